package linux

import (
	"os"
	"os/signal"
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
	t.p.watches++
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
	p.watches--
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
		default:
			return
		}
	}
}

// idle is called when no thread can run. Virtual time jumps to the next
// deadline, unless the outside world might act before: then it is waited for
// as long in real time. It reports false if nothing can ever happen.
func (p *Process) idle() bool {
	next := min(p.nextDeadline, p.nextTimer())
	outside := false
	for _, t := range p.threads {
		outside = outside || t.wait.outside
	}
	if next == never && !outside {
		p.woke = false
		p.pokeFds()
		return p.woke
	}
	if !outside && !p.clock.host {
		p.clock.now = max(p.clock.now, next)
		p.expire()
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
	case <-p.stopped:
	case <-timer:
		if !p.clock.host {
			p.clock.now = max(p.clock.now, next)
		}
		p.expire()
	}
	return true
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
	p.hostSignals = make(chan os.Signal, 16)
	for _, s := range forwarded {
		if signal.Ignored(s) {
			p.actions[s.(unix.Signal)].handler = sigIgn
			continue
		}
		signal.Notify(p.hostSignals, s)
	}
}

// closeOutside ends all helpers.
func (p *Process) closeOutside() {
	if p.hostSignals != nil {
		signal.Stop(p.hostSignals)
	}
	for _, t := range p.threads {
		t.unblock()
	}
	for p.watches > 0 {
		p.heard(<-p.events)
	}
}

// hostSignal sends the guest a signal that the host sent to this process.
func (p *Process) hostSignal(s os.Signal) {
	p.sendProcess(siginfo{signo: int(s.(unix.Signal)), code: siUser}, nil)
}

// Interrupt makes Run return err soon. Any goroutine may call it, once.
func (p *Process) Interrupt(err error) {
	p.stopErr = err
	close(p.stopped)
}
