//go:build ignore

// Command common_gen creates common.bin from a list of passwords, one per line.
// The list is from the package @zxcvbn-ts/language-common 4.1.3 (MIT license),
// which collects leaked passwords.
package main

import (
	"bytes"
	"crypto/sha256"
	"log"
	"os"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var sums [][4]byte
	for line := range bytes.Lines(text) {
		word := bytes.ToLower(norm.NFKC.Bytes(bytes.TrimSpace(line)))
		// Shorter passwords are rejected for their length.
		if utf8.RuneCount(word) >= 8 {
			sum := sha256.Sum256(word)
			sums = append(sums, [4]byte(sum[:4]))
		}
	}
	slices.SortFunc(sums, func(a, b [4]byte) int { return bytes.Compare(a[:], b[:]) })
	var out []byte
	for _, sum := range slices.Compact(sums) {
		out = append(out, sum[:]...)
	}
	if err := os.WriteFile(os.Args[2], out, 0o644); err != nil {
		log.Fatal(err)
	}
}
