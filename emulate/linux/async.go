package linux

import (
	"golang.org/x/sys/unix"
)

// Signals that say that a descriptor is ready (fcntl(2): O_ASYNC, F_SETSIG). The
// host would send them to racesim: instead, an epoll instance of ours has these
// descriptors edge-triggered, and each event becomes the owner's signal.

// asyncIO is what a family has of it.
type asyncIO struct {
	ep    int // host descriptor of the epoll instance, 0: none
	last  int32
	files map[int32]*file
	// news has an element when the outside world has made something ready; nil: no
	// file is the outside's.
	news chan struct{}
	stop int // eventfd that ends the helper
}

// fasync is O_ASYNC, which is not among golang.org/x/sys/unix's flags for Linux
// under every name.
const fasync = 0x2000

// setAsync turns signals for the file of d on or off. fd is the guest's number.
func (f *family) setAsync(d *descriptor, fd int, on bool) unix.Errno {
	a, of := &f.async, d.file
	if on == (of.asyncKey != 0) || of.reg {
		return 0
	}
	if !on {
		unix.EpollCtl(a.ep, unix.EPOLL_CTL_DEL, of.asyncHost, nil)
		delete(a.files, of.asyncKey)
		of.asyncKey = 0
		return 0
	}
	if a.ep == 0 {
		ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			return err.(unix.Errno)
		}
		own, err := dupHost(ep)
		unix.Close(ep)
		if err != nil {
			return err.(unix.Errno)
		}
		a.ep, a.files = own, map[int32]*file{}
	}
	f.pokeAsync()
	a.last++
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLPRI | unix.EPOLLRDHUP | unix.EPOLLET, Fd: a.last}
	if err := unix.EpollCtl(a.ep, unix.EPOLL_CTL_ADD, d.host, &ev); err != nil {
		return 0 // such files tell nothing
	}
	of.asyncKey, of.asyncHost, of.asyncFD = a.last, d.host, fd
	var now [1]unix.EpollEvent
	unix.EpollWait(a.ep, now[:], 0) // what is ready already isn't news
	a.files[a.last] = of
	if of.outside && a.news == nil {
		f.helpAsync()
	}
	return 0
}

// helpAsync starts the helper that waits for the outside world.
func (f *family) helpAsync() {
	a := &f.async
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return
	}
	a.stop, a.news = stop, make(chan struct{})
	news, ep := a.news, a.ep
	go func() {
		for {
			fds := []unix.PollFd{{Fd: int32(ep), Events: unix.POLLIN}, {Fd: int32(stop), Events: unix.POLLIN}}
			if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR || fds[1].Revents != 0 {
				unix.Close(stop)
				return
			}
			if fds[0].Revents != 0 {
				select {
				case news <- struct{}{}:
				default: // nobody listens just now: look again soon
					unix.Poll(fds[1:], 1)
				}
			}
		}
	}()
}

// closeAsync ends the helper.
func (f *family) closeAsync() {
	a := &f.async
	if a.news != nil {
		unix.Write(a.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		a.news = nil
	}
	if a.ep != 0 {
		unix.Close(a.ep)
		a.ep = 0
	}
}

// pokeAsync sends the signals for what has become ready.
func (f *family) pokeAsync() {
	a := &f.async
	if len(a.files) == 0 {
		return
	}
	var events [64]unix.EpollEvent
	n, err := unix.EpollWait(a.ep, events[:], 0)
	if err != nil {
		return
	}
	for _, e := range events[:max(n, 0)] {
		if of := a.files[e.Fd]; of != nil {
			f.signalReady(of, e.Events)
		}
	}
}

// si_code values of signals for descriptors: POLL_IN and so on, with the events
// that go into si_band.
const (
	pollIn  = 1
	pollOut = 2
	pollErr = 4
	pollPri = 5
	pollHup = 6

	pollRdNorm = 0x40
	pollRdBand = 0x80
	pollWrNorm = 0x100
	pollWrBand = 0x200
)

// signalReady sends the signal for events of a file to its owner.
func (f *family) signalReady(of *file, events uint32) {
	code, band := int32(pollOut), uint64(unix.POLLOUT|pollWrNorm|pollWrBand)
	switch {
	case events&unix.EPOLLERR != 0:
		code, band = pollErr, unix.POLLERR
	case events&unix.EPOLLIN != 0:
		code, band = pollIn, unix.POLLIN|pollRdNorm
	case events&unix.EPOLLHUP != 0:
		code, band = pollHup, unix.POLLHUP|unix.POLLERR
	case events&unix.EPOLLPRI != 0:
		code, band = pollPri, unix.POLLPRI|pollRdBand
	}
	info := siginfo{signo: int(unix.SIGIO), code: siKernel}
	if of.sig != 0 {
		info = siginfo{signo: of.sig, code: code, band: band, fd: of.asyncFD, io: true}
	}
	if of.owner > 0 {
		if p := f.find(of.owner); p != nil {
			p.sendProcess(info, nil)
		} else if t := f.thread(of.owner); t != nil {
			t.p.sendThread(t, info)
		}
		return
	}
	for _, p := range append([]*Process(nil), f.members...) {
		if of.owner < 0 && p.pgid == -of.owner {
			p.sendProcess(info, nil)
		}
	}
}
