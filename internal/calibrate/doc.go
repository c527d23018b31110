// Command calibrate measures how often racesim's verdicts are right, and makes
// from that the table that confidence is computed from; see docs/confidence.md.
package main
