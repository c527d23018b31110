module github.com/racesim/racesim

go 1.26
