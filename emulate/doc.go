// Package emulate holds the words that every way of executing a guest shares: addresses, threads, positions.
package emulate
