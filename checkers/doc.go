// Package checkers looks for misbehaviour in an execution, recorded or
// re-emulated, and applies the user's rules to what was found.
//
// A Checker is a value: identifier, documentation, severity, run function. The
// table All drives the command line's help, the rules file and the reports. A
// checker reads Facts, which an analysis collects while it replays; it does no
// input or output and executes nothing.
//
// Rules are read from a rules.yaml file: which checkers run with which
// severity, conditions over fields of races and findings, and suppressions,
// each with a reason. Conditions are expressions of github.com/expr-lang/expr
// over the fields that Fields lists.
package checkers
