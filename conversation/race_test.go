//go:build race

package conversation_test

// The race detector makes everything several times slower; what draws lots is
// run less often under it.
const raced = true
