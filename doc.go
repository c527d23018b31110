// Package racesim records unmodified x86-64 Linux programs on a software
// processor, replays them bit for bit, finds their data races and says which
// of them matter.
package racesim
