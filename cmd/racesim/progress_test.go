package main

import (
	"bytes"
	"testing"
	"time"
)

func TestProgressIsForLongWork(t *testing.T) {
	var b bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{w: &b, now: func() time.Time { return now }, begun: now}
	p.step("looking", 1, 10)
	p.end()
	if b.Len() > 0 {
		t.Errorf("at once: %q", b.String())
	}
	now = now.Add(3 * time.Second)
	p.step("looking", 5, 10)
	p.step("looking", 6, 10) // too soon after the last
	now = now.Add(time.Second)
	p.step("judging", 0, 0)
	p.end()
	p.end()
	if got, want := b.String(), "\r\x1b[Kracesim: looking, 50 %\r\x1b[Kracesim: judging, 0 %\r\x1b[K"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	var none *progress
	none.step("looking", 1, 2)
	none.end()
	if none.call() != nil {
		t.Error("progress that nobody sees is made")
	}
}
