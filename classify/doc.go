// Package classify says whether the outputs of a function instance are normal,
// given the outputs of its other instances, and what a race's experiments
// amount to.
//
// It is pure: values in, opinions out; no input or output, no emulation. A
// Model is learnt from samples of one function and judges others. With too few
// samples it has no opinion, and says so. Judge turns the evidence collected
// about one race into a verdict with a confidence and a sentence.
//
// Scores are calibrated by comparing each sample with the others: of instances
// like these, a share of p has a score of p or less.
//
// Sources: conformal prediction (Vovk, Gammerman, Shafer, "Algorithmic Learning
// in a Random World", 2005); robust location and scale by median and MAD (Rousseeuw and Croux,
// "Alternatives to the Median Absolute Deviation", 1993); smoothing of small
// counts by the rule of succession (Laplace).
package classify
