// Command sweep runs real programs natively and recorded, and compares. For
// each row of programs.yaml it makes two folders with the same input, runs the
// program in one of them natively and in the other under racesim record, and
// compares what both wrote and ended with; then it replays and verifies the
// trace. It installs nothing unless asked to, and leaves out what isn't there,
// saying so.
//
// make sweep runs it; docs/programs.md is its page.
package main
