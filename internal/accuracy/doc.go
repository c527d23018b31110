// Command accuracy measures how well racesim, ThreadSanitizer, Helgrind and DRD
// tell programs with data races from those without, side by side on one
// machine, and how well racesim's verdicts fit.
//
// There are two suites. The test suites of Helgrind and DRD, which others
// wrote, are fetched with apt-get source and built in a scratch folder; only
// the table of labels, testdata/valgrind.csv, is kept here. Its columns are the
// name of a case, its source below the package's root, its arguments, and
// whether it has a race; names ut/NNN are the numbered cases of one program.
// The labels follow the suites' expected output and their authors' comments.
// The other suite is racesim's own, testdata/truth, whose sources say in their
// first lines what is to be said of them.
//
// A tool finds a race if it reports at least one data race in at least one of
// its runs; what else it reports (lock orders, wrong calls) doesn't count, nor
// do races that racesim calls synchronisation. A case that a tool fails on
// counts as one in which it found nothing, and is listed.
package main
