package llm

import (
	"fmt"
	"io"
)

// Secret is a string that prints as stars, whatever the verb or the logger.
// A conversion to string gives its value.
type Secret string

const stars = "***"

// String hides the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return stars
}

// Format hides the value from all verbs: %d, for which fmt does not ask String,
// would show it.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText hides the value from encoders, loggers' among them.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
