package funcs

import "testing"

// Run-time libraries are known by the names of their files; what a program
// brings that is only called alike isn't.
func TestModuleKinds(t *testing.T) {
	for name, want := range map[string]ModuleKind{
		"/lib/x86_64-linux-gnu/libc.so.6":                 ModLibc,
		"/lib64/ld-linux-x86-64.so.2":                     ModLibc,
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30":   ModCxx,
		"/usr/lib/x86_64-linux-gnu/libgomp.so.1":          ModOpenMP,
		"/lib/x86_64-linux-gnu/libjemalloc.so.2":          ModAllocator,
		"/usr/lib/libtcmalloc_minimal_debug.so.4.5.9":     ModAllocator,
		"/usr/lib/libmimalloc-secure.so.2.0":              ModAllocator,
		"/usr/lib/x86_64-linux-gnu/libtbbmalloc_proxy.so": ModAllocator,
		"/opt/app/libhoarder.so.1":                        ModUser,
		"/opt/app/libcache.so":                            ModUser,
		"/usr/bin/redis-server":                           ModUser,
	} {
		if got := moduleKind(name); got != want {
			t.Errorf("%s: %v, expected %v", name, got, want)
		}
	}
}
