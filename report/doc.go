// Package report holds the result of an analysis, the Report, and renders it.
//
// Every renderer prints from the one Report value and adds nothing of its own:
// what the table says, the JSON says. A Report isn't safe for concurrent
// change; rendering only reads it.
package report
