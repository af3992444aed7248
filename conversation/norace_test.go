//go:build !race

package conversation_test

const raced = false
