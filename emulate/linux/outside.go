package linux

import (
	"os"
	"os/signal"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A watch is a helper goroutine that waits on the host for descriptors that
// the outside world makes ready.
type watch struct {
	t     *Thread
	stop  int // eventfd: writing ends the goroutine
	ended bool
}

// watchOutside starts a helper for t's wait.
func (t *Thread) watchOutside() {
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return // pokeFds and idle still look
	}
	w := &watch{t: t, stop: stop}
	t.wait.watch = w
	fds := append([]unix.PollFd{{Fd: int32(stop), Events: unix.POLLIN}}, t.wait.fds...)
	events := t.p.events
	t.p.fam.watches++
	go func() {
		for {
			_, err := unix.Poll(fds, -1)
			if err != unix.EINTR {
				break
			}
		}
		events <- w
	}()
}

// cancel ends the helper; its last event will be ignored.
func (w *watch) cancel() {
	w.t = nil
	if !w.ended {
		unix.Write(w.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// heard handles the event of a helper, which has ended.
func (p *Process) heard(w *watch) {
	w.ended = true
	p.fam.watches--
	unix.Close(w.stop)
	if w.t != nil {
		w.t.wake()
	}
}

// listen takes what has come from outside without waiting.
func (p *Process) listen() {
	for {
		select {
		case w := <-p.events:
			p.heard(w)
		case s := <-p.hostSignals:
			p.hostSignal(s)
		case e := <-p.fam.ended:
			p.fam.hostEnded(e)
		case <-p.AS.outsiders.news:
			p.AS.wanted()
		case <-p.fam.async.news:
			p.fam.pokeAsync()
		default:
			return
		}
	}
}

// idle is called when no thread can run. Virtual time jumps to the next
// deadline, unless the outside world might act before: then it is waited for
// as long in real time. It reports false if nothing can ever happen.
func (p *Process) idle() bool {
	f := p.fam
	next := never
	outside := f.natives > 0 || f.async.news != nil
	for _, q := range f.members {
		next = min(next, q.nextDeadline, q.nextTimer())
		outside = outside || q.halted && p.hostSignals != nil
		for _, t := range q.threads {
			outside = outside || t.wait != nil && t.wait.outside
		}
	}
	if next == never && !outside {
		return f.stirs()
	}
	if !outside && !p.clock.host {
		p.clock.now = max(p.clock.now, next)
		f.expire()
		return true
	}
	var timer <-chan time.Time
	if next != never {
		timer = time.After(time.Duration(max(next-p.Now(), 0)))
	}
	select {
	case w := <-p.events:
		p.heard(w)
	case s := <-p.hostSignals:
		p.hostSignal(s)
	case e := <-p.fam.ended:
		p.fam.hostEnded(e)
	case <-p.AS.outsiders.news:
		p.AS.wanted()
	case <-p.fam.async.news:
		p.fam.pokeAsync()
	case <-p.stopped:
	case <-timer:
		if !p.clock.host {
			p.clock.now = max(p.clock.now, next)
		}
		f.expire()
	}
	return true
}

// stirs reports whether a thread can go on after all: what it reads from is
// ready. When this process starts another one, the copy holds every pipe open
// for a moment; that isn't a deadlock.
func (f *family) stirs() bool {
	const moments, moment = 20, 5 * time.Millisecond
	f.woke = false
	for i := 0; ; i++ {
		f.pokeFds()
		waiting := 0
		for _, p := range f.members {
			waiting += p.fdWaiters
		}
		if f.woke || waiting == 0 || i == moments {
			return f.woke
		}
		time.Sleep(moment)
	}
}

// forwarded are the host signals that the guest gets as its own.
var forwarded = []os.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2,
	unix.SIGWINCH, unix.SIGCONT,
}

// initOutside starts to listen to the outside world.
func (p *Process) initOutside() {
	p.events = make(chan *watch, 64)
	p.stopped = make(chan struct{})
	if !p.cfg.HostSignals {
		return
	}
	for s := unix.Signal(1); s < firstRT; s++ {
		if signal.Ignored(s) {
			p.actions[s].handler = sigIgn
		}
	}
	p.hostSignals = make(chan os.Signal, 16)
	for _, s := range forwarded {
		if !signal.Ignored(s) {
			signal.Notify(p.hostSignals, s)
		}
	}
}

// hear makes the host's signal n reach the guest, which has just said what it
// wants done with it: until then one that was ignored at the start isn't heard.
func (p *Process) hear(n int) {
	s := unix.Signal(n)
	if p.hostSignals != nil && p.actions[n].handler != sigIgn && slices.Contains(forwarded, os.Signal(s)) {
		signal.Notify(p.hostSignals, s)
	}
}

// closeOutside ends all helpers.
func (p *Process) closeOutside() {
	if p.hostSignals != nil {
		signal.Stop(p.hostSignals)
	}
	for p.fam.watches > 0 {
		p.heard(<-p.events)
	}
}

// hostSignal sends the guest a signal that the host sent to this process. Those
// that a terminal makes go to the whole group, as there.
func (p *Process) hostSignal(s os.Signal) {
	info := siginfo{signo: int(s.(unix.Signal)), code: siUser}
	for _, q := range append([]*Process(nil), p.fam.members...) {
		if q == p || p.exited || q.pgid == p.pgid && (s == unix.SIGINT || s == unix.SIGQUIT) {
			q.sendProcess(info, nil)
		}
	}
}

// Interrupt makes Run return err soon. Any goroutine may call it, once.
func (p *Process) Interrupt(err error) {
	p.stopErr = err
	close(p.stopped)
}
