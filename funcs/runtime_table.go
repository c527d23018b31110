package funcs

// A runtimeRow classifies functions of the run-time by their symbols.
type runtimeRow struct {
	names string // separated by white space
	cat   Category
	alloc AllocRole
	note  string // why; for Unsafe the annotation of the glibc manual, release 2.36
}

// runtimeTable lists the functions whose category isn't the default of their
// library. The annotations of the Unsafe rows are those that the GNU C Library
// Reference Manual prints under "MT-Unsafe" (section 1.2.2.1, POSIX Safety
// Concepts), cut down to the part that says why.
//
// Not unsafe in glibc 2.36, although POSIX allows it: strerror and strsignal
// (a buffer per thread since 2.32), inet_ntoa (a buffer per thread), rand,
// random and srand (a lock), basename and dirname (they change their
// argument, which makes them MemoryFn).
var runtimeTable = []runtimeRow{
	// Allocators.
	{"malloc __libc_malloc valloc pvalloc __libc_valloc __libc_pvalloc", Allocator, RoleMalloc, ""},
	{"calloc __libc_calloc", Allocator, RoleCalloc, ""},
	{"realloc __libc_realloc", Allocator, RoleRealloc, ""},
	{"reallocarray __libc_reallocarray", Allocator, RoleReallocArray, ""},
	{"memalign aligned_alloc __libc_memalign", Allocator, RoleMemalign, ""},
	{"posix_memalign __posix_memalign", Allocator, RolePosixMemalign, ""},
	{"free cfree __libc_free", Allocator, RoleFree, ""},
	{"_Znwm _ZnwmRKSt9nothrow_t _ZnwmSt11align_val_t _ZnwmSt11align_val_tRKSt9nothrow_t", Allocator, RoleNew, ""},
	{"_Znam _ZnamRKSt9nothrow_t _ZnamSt11align_val_t _ZnamSt11align_val_tRKSt9nothrow_t", Allocator, RoleNewArray, ""},
	{"_ZdlPv _ZdlPvm _ZdlPvRKSt9nothrow_t _ZdlPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdlPvSt11align_val_tRKSt9nothrow_t", Allocator, RoleDelete, ""},
	{"_ZdaPv _ZdaPvm _ZdaPvRKSt9nothrow_t _ZdaPvSt11align_val_t _ZdaPvmSt11align_val_t _ZdaPvSt11align_val_tRKSt9nothrow_t", Allocator, RoleDeleteArray, ""},
	{"malloc_usable_size malloc_trim mallinfo mallinfo2 mallopt malloc_stats malloc_info _int_malloc _int_free _int_realloc _int_memalign sysmalloc malloc_consolidate unlink_chunk tcache_init systrim ptmalloc_init arena_get2 __malloc_arena_thread_freeres __libc_alloc_buffer_allocate", Allocator, NoAlloc, "the inside of malloc"},

	// Synchronisation.
	{"pthread_create pthread_join pthread_tryjoin_np pthread_timedjoin_np pthread_clockjoin_np pthread_detach pthread_exit pthread_cancel pthread_testcancel pthread_once __pthread_once pthread_kill pthread_sigqueue", SyncAPI, NoAlloc, "threads"},
	{"thrd_create thrd_join thrd_detach thrd_exit thrd_yield thrd_sleep call_once tss_create tss_delete tss_get tss_set", SyncAPI, NoAlloc, "C11 threads"},
	{"mtx_init mtx_lock mtx_timedlock mtx_trylock mtx_unlock mtx_destroy cnd_init cnd_signal cnd_broadcast cnd_wait cnd_timedwait cnd_destroy", SyncAPI, NoAlloc, "C11 mutexes and conditions"},
	{"sem_init sem_destroy sem_open sem_close sem_unlink sem_wait sem_trywait sem_timedwait sem_clockwait sem_post sem_getvalue", SyncAPI, NoAlloc, "semaphores"},
	{"__cxa_guard_acquire __cxa_guard_release __cxa_guard_abort", SyncAPI, NoAlloc, "initialisation of static locals (Itanium C++ ABI 3.3.3)"},
	{"start_thread clone __clone clone3 __clone3 __clone_internal _start __libc_start_main __libc_start_main_impl __libc_start_call_main __libc_csu_init __nptl_deallocate_tsd __nptl_free_tcb __pthread_initialize_minimal sigaction signal raise kill tgkill sigprocmask pthread_sigmask futex syscall fork vfork __fork _Fork", SyncAPI, NoAlloc, "where threads and processes begin"},

	// Memory of the caller.
	{"memcpy memmove memset memcmp memchr memrchr rawmemchr memmem mempcpy memccpy bcopy bzero bcmp explicit_bzero swab ffs memfrob __memcpy_chk __memmove_chk __memset_chk __mempcpy_chk __explicit_bzero_chk __memcpy_fma", MemoryFn, NoAlloc, ""},
	{"strcpy strncpy stpcpy stpncpy strcat strncat strcmp strncmp strcasecmp strncasecmp strcoll strxfrm strlen strnlen strchr strrchr strchrnul strstr strcasestr strspn strcspn strpbrk strsep strtok_r __strtok_r index rindex strdup strndup __strdup __strndup strlcpy strlcat strfry strverscmp __strcpy_chk __strncpy_chk __strcat_chk __strncat_chk __stpcpy_chk __stpncpy_chk", MemoryFn, NoAlloc, ""},
	{"wcscpy wcsncpy wcscat wcsncat wcscmp wcsncmp wcslen wcsnlen wcschr wcsrchr wcsstr wmemcpy wmemmove wmemset wmemcmp wmemchr wcstok wcsdup", MemoryFn, NoAlloc, ""},
	{"qsort qsort_r bsearch lfind lsearch msort_with_tmp msort_with_tmp.part.0 insque remque tsearch tfind tdelete", MemoryFn, NoAlloc, "their comparison functions are the user's"},
	{"printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf asprintf vasprintf dprintf vdprintf puts fputs fputs_unlocked fwrite fwrite_unlocked fread fread_unlocked fgets fgets_unlocked gets getline getdelim __getdelim perror psignal psiginfo write read pwrite pread pwrite64 pread64 writev readv send recv sendto recvfrom sendmsg recvmsg", MemoryFn, NoAlloc, "they read or fill memory of the caller; streams have locks"},
	{"__printf_chk __fprintf_chk __sprintf_chk __snprintf_chk __vprintf_chk __vfprintf_chk __vsprintf_chk __vsnprintf_chk __asprintf_chk __dprintf_chk __fgets_chk __fread_chk __read_chk scanf fscanf sscanf vscanf vfscanf vsscanf __isoc99_scanf __isoc99_fscanf __isoc99_sscanf __isoc99_vsscanf", MemoryFn, NoAlloc, ""},
	{"strtol strtoul strtoll strtoull strtod strtof strtold strtoimax strtoumax atoi atol atoll atof __isoc23_strtol __isoc23_strtoul", MemoryFn, NoAlloc, ""},
	{"basename __xpg_basename dirname realpath getcwd localtime_r gmtime_r asctime_r ctime_r mktime timegm strftime strptime inet_pton inet_ntop inet_aton random_r srandom_r initstate_r setstate_r drand48_r erand48_r lrand48_r nrand48_r mrand48_r jrand48_r srand48_r seed48_r lcong48_r rand_r hsearch_r hcreate_r hdestroy_r lgamma_r strerror_r ttyname_r getpwnam_r getpwuid_r getgrnam_r getgrgid_r ecvt_r fcvt_r modf frexp sincos remquo", MemoryFn, NoAlloc, "results go where the caller says"},
	{"setjmp _setjmp __sigsetjmp longjmp _longjmp siglongjmp __longjmp_chk getcontext setcontext swapcontext makecontext time gettimeofday clock_gettime stat fstat lstat fstatat uname nanosleep clock_nanosleep poll ppoll select epoll_wait pipe pipe2 sigemptyset sigfillset sigaddset sigdelset", MemoryFn, NoAlloc, ""},

	// Unprotected state.
	{"strtok", Unsafe, NoAlloc, "race:strtok"},
	{"asctime", Unsafe, NoAlloc, "race:asctime locale"},
	{"ctime", Unsafe, NoAlloc, "race:tmbuf race:asctime env locale"},
	{"localtime gmtime", Unsafe, NoAlloc, "race:tmbuf env locale"},
	{"getdate", Unsafe, NoAlloc, "race:getdate env locale"},
	{"setlocale", Unsafe, NoAlloc, "const:locale env"},
	{"localeconv", Unsafe, NoAlloc, "race:localeconv locale"},
	{"setenv unsetenv putenv clearenv", Unsafe, NoAlloc, "const:env"},
	{"getenv secure_getenv", Unsafe, NoAlloc, "env: safe only while nobody calls setenv, unsetenv, putenv or clearenv"},
	{"readdir readdir64", Unsafe, NoAlloc, "race:dirstream"},
	{"gethostbyname gethostbyname2 gethostbyaddr gethostent sethostent endhostent", Unsafe, NoAlloc, "race:hostbyname env locale"},
	{"getservbyname getservbyport getservent setservent endservent", Unsafe, NoAlloc, "race:servbyname locale"},
	{"getprotobyname getprotobynumber getprotoent setprotoent endprotoent", Unsafe, NoAlloc, "race:protobyname locale"},
	{"getnetbyname getnetbyaddr getnetent setnetent endnetent", Unsafe, NoAlloc, "race:netbyname env locale"},
	{"getpwnam", Unsafe, NoAlloc, "race:pwnam locale"},
	{"getpwuid", Unsafe, NoAlloc, "race:pwuid locale"},
	{"getpwent setpwent endpwent fgetpwent", Unsafe, NoAlloc, "race:pwent race:pwentbuf locale"},
	{"getgrnam", Unsafe, NoAlloc, "race:grnam locale"},
	{"getgrgid", Unsafe, NoAlloc, "race:grgid locale"},
	{"getgrent setgrent endgrent fgetgrent", Unsafe, NoAlloc, "race:grent race:grentbuf locale"},
	{"getutent getutid getutline pututline setutent endutent getutxent getutxid getutxline pututxline setutxent endutxent utmpname", Unsafe, NoAlloc, "race:utent"},
	{"getmntent", Unsafe, NoAlloc, "race:mntentbuf locale"},
	{"getfsent getfsspec getfsfile setfsent endfsent", Unsafe, NoAlloc, "race:fsent locale"},
	{"getlogin cuserid", Unsafe, NoAlloc, "race:getlogin race:utent"},
	{"hsearch hcreate hdestroy", Unsafe, NoAlloc, "race:hsearch"},
	{"ecvt fcvt qecvt qfcvt", Unsafe, NoAlloc, "race:ecvt"},
	{"lgamma lgammaf lgammal gamma gammaf gammal", Unsafe, NoAlloc, "race:signgam"},
	{"drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 seed48 lcong48", Unsafe, NoAlloc, "race:drand48"},
	{"crypt", Unsafe, NoAlloc, "race:crypt"},
	{"encrypt setkey", Unsafe, NoAlloc, "race:crypt"},
	{"ttyname", Unsafe, NoAlloc, "race:ttyname"},
	{"ptsname", Unsafe, NoAlloc, "race:ptsname"},
	{"tmpnam", Unsafe, NoAlloc, "race:tmpnam/!result"},
	{"l64a", Unsafe, NoAlloc, "race:l64a"},
	{"mblen mbtowc wctomb", Unsafe, NoAlloc, "race"},
	{"getopt getopt_long getopt_long_only", Unsafe, NoAlloc, "race:getopt env"},
	{"twalk", Unsafe, NoAlloc, "race:root"},
	{"fcloseall", Unsafe, NoAlloc, "race:streams"},
	{"catgets", Unsafe, NoAlloc, "race"},
	{"ether_ntoa ether_aton", Unsafe, NoAlloc, "a static buffer"},
	{"siginterrupt", Unsafe, NoAlloc, "const:sigintr"},
	{"mtrace muntrace", Unsafe, NoAlloc, "race:mtrace"},

	// State of their own.
	{"rand srand random srandom initstate setstate", Internal, NoAlloc, "a lock (MT-Safe)"},
	{"strerror strsignal inet_ntoa dlerror", Internal, NoAlloc, "a buffer per thread (MT-Safe)"},
	{"fopen fopen64 fdopen freopen fclose fflush setvbuf setbuf fseek fseeko ftell ftello rewind feof ferror clearerr fileno putc fputc putchar getc fgetc getchar ungetc _IO_putc _IO_getc popen pclose tmpfile", Internal, NoAlloc, "streams have locks"},
	{"flockfile ftrylockfile funlockfile _IO_flockfile _IO_ftrylockfile _IO_funlockfile", SyncAPI, NoAlloc, "the lock of a stream, taken by the program itself"},
	{"exit atexit on_exit quick_exit at_quick_exit __cxa_atexit __cxa_finalize __cxa_thread_atexit __cxa_thread_atexit_impl _exit abort __run_exit_handlers", Internal, NoAlloc, "a lock"},
	{"dlopen dlclose dlsym dlvsym dladdr dladdr1 dl_iterate_phdr _dl_runtime_resolve _dl_fixup __tls_get_addr", Internal, NoAlloc, "the loader's lock"},
	{"opendir closedir rewinddir getaddrinfo freeaddrinfo getnameinfo syslog openlog closelog setlogmask tzset sysconf getpagesize", Internal, NoAlloc, ""},

	// libgomp: what hands out iterations doesn't order the user's data; what
	// begins and ends regions does.
	{"GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next GOMP_loop_runtime_next GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next GOMP_loop_nonmonotonic_runtime_next GOMP_loop_maybe_nonmonotonic_runtime_next GOMP_loop_ull_static_next GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next GOMP_loop_ull_runtime_next GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next GOMP_loop_ull_nonmonotonic_runtime_next GOMP_loop_static_start GOMP_loop_dynamic_start GOMP_loop_guided_start GOMP_loop_runtime_start GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_nonmonotonic_guided_start GOMP_loop_nonmonotonic_runtime_start GOMP_loop_maybe_nonmonotonic_runtime_start GOMP_loop_start GOMP_loop_ull_start GOMP_loop_ull_static_start GOMP_loop_ull_dynamic_start GOMP_loop_ull_guided_start GOMP_loop_ull_runtime_start GOMP_loop_ull_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_guided_start GOMP_loop_ull_nonmonotonic_runtime_start GOMP_loop_ull_maybe_nonmonotonic_runtime_start GOMP_loop_ull_maybe_nonmonotonic_runtime_next GOMP_loop_end_nowait GOMP_loop_end_cancel GOMP_sections_start GOMP_sections_next GOMP_sections_end_nowait", Internal, NoAlloc, "hands out iterations (OpenMP 5.0, 2.9.2: no implied flush without the closing barrier)"},
	{"GOMP_single_start", Internal, NoAlloc, "elects one thread; its closing barrier is GOMP_barrier"},
	{"__kmpc_dispatch_init_4 __kmpc_dispatch_init_4u __kmpc_dispatch_init_8 __kmpc_dispatch_init_8u __kmpc_dispatch_next_4 __kmpc_dispatch_next_4u __kmpc_dispatch_next_8 __kmpc_dispatch_next_8u __kmpc_dispatch_fini_4 __kmpc_dispatch_fini_4u __kmpc_dispatch_fini_8 __kmpc_dispatch_fini_8u __kmpc_for_static_init_4 __kmpc_for_static_init_4u __kmpc_for_static_init_8 __kmpc_for_static_init_8u __kmpc_for_static_fini", Internal, NoAlloc, "hands out iterations"},
	{"__kmpc_single __kmpc_end_single __kmpc_master __kmpc_end_master __kmpc_masked __kmpc_end_masked", Internal, NoAlloc, "elects one thread"},
	{"__kmpc_threadprivate_cached __kmpc_threadprivate_register __kmpc_global_thread_num __kmpc_push_num_threads", Internal, NoAlloc, "memory and settings of threads"},
	{"omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_get_wtime omp_get_wtick omp_get_num_procs omp_set_num_threads omp_get_level omp_in_parallel omp_get_dynamic omp_set_dynamic omp_get_nested omp_set_nested omp_get_schedule omp_set_schedule omp_get_thread_limit omp_get_team_num omp_get_num_teams omp_get_cancellation", Internal, NoAlloc, "settings of the run-time"},
}

// streamBuffers are the functions of glibc that allocate the buffer of a
// stream: it is the stream's, whichever function was the first to need it.
var streamBuffers = map[string]bool{"_IO_file_doallocate": true, "_IO_wfile_doallocate": true, "_IO_default_doallocate": true}

// A prefixRow classifies symbols by how they begin.
type prefixRow struct {
	prefix string
	cat    Category
	note   string
}

// runtimePrefixes are asked after runtimeTable, in this order.
var runtimePrefixes = []prefixRow{
	{"pthread_", SyncAPI, "POSIX threads"},
	{"__pthread_", SyncAPI, "POSIX threads"},
	{"___pthread_", SyncAPI, "POSIX threads"},
	{"__new_sem_", SyncAPI, "semaphores"},
	{"__lll_lock", SyncAPI, "glibc's internal locks"},
	{"__futex_", SyncAPI, "futex calls"},
	{"GOMP_", SyncAPI, "OpenMP: regions, barriers, critical, tasks, ordered"},
	{"gomp_", SyncAPI, "OpenMP: the inside of libgomp"},
	{"omp_", SyncAPI, "OpenMP: locks"},
	{"__kmpc_", SyncAPI, "OpenMP: libomp"},
	{"_ZNSt5mutex", SyncAPI, "std::mutex"},
	{"_ZNSt18condition_variable", SyncAPI, "std::condition_variable"},
	{"_ZNSt22condition_variable_any", SyncAPI, "std::condition_variable_any"},
	{"_ZNSt3_V222condition_variable_any", SyncAPI, "std::condition_variable_any"},
	{"_ZNSt6thread", SyncAPI, "std::thread"},
	{"_ZNSt7jthread", SyncAPI, "std::jthread"},
	{"_ZNSt11this_thread", SyncAPI, "std::this_thread"},
	{"_ZNSt13__future_base", SyncAPI, "std::future"},
	{"_ZNSt28__atomic_futex_unsigned_base", SyncAPI, "std::future"},
	{"_ZSt9call_once", SyncAPI, "std::call_once"},
	{"_ZNSt9once_flag", SyncAPI, "std::call_once"},
	{"__once_proxy", SyncAPI, "std::call_once"},
	{"_ZSt25notify_all_at_thread_exit", SyncAPI, "std::notify_all_at_thread_exit"},
	{"_IO_", Internal, "stdio"},
	{"_dl_", Internal, "the dynamic loader"},
	{"_nl_", Internal, "locales"},
	{"_Unwind_", Internal, "exceptions"},
	{"__cxa_", Internal, "exceptions"},
	{"__gconv", Internal, "character sets"},
	// The copies of string functions for different processors.
	{"__mem", MemoryFn, ""},
	{"__str", MemoryFn, ""},
	{"__stp", MemoryFn, ""},
	{"__wcs", MemoryFn, ""},
	{"__wmem", MemoryFn, ""},
	{"__rawmemchr", MemoryFn, ""},
}

// cxxMemoryPrefixes begin the symbols of libstdc++ that work on objects of the
// user: strings, streams and the nodes of containers.
var cxxMemoryPrefixes = []string{
	"_ZNSs", "_ZNKSs", "_ZNSbI", "_ZNKSbI", // the old std::string
	"_ZNSt7__cxx1112basic_string", "_ZNKSt7__cxx1112basic_string",
	"_ZSt18_Rb_tree_increment", "_ZSt18_Rb_tree_decrement", "_ZSt29_Rb_tree_insert_and_rebalance",
	"_ZSt28_Rb_tree_rebalance_for_erase", "_ZSt20_Rb_tree_black_count", "_ZSt20_Rb_tree_rotate",
	// Streams, which are the user's unless they are std::cout and its like.
	"_ZNSo", "_ZNKSo", "_ZNSi", "_ZNKSi", "_ZNSd", "_ZStlsI", "_ZStrsI", "_ZSt16__ostream_insert", "_ZSt17__istream_extract", "_ZSt4endlI", "_ZSt4endsI", "_ZSt5flushI", "_ZSt2wsI", "_ZSt7getlineI",
	"_ZNSt13basic_ostream", "_ZNSt13basic_istream", "_ZNSt14basic_iostream", "_ZNSt15basic_streambuf", "_ZNSt9basic_ios", "_ZNKSt9basic_ios", "_ZNSt8ios_base", "_ZNKSt8ios_base",
	"_ZNSt7__cxx1115basic_stringbuf", "_ZNKSt7__cxx1115basic_stringbuf", "_ZNSt7__cxx1118basic_stringstream", "_ZNKSt7__cxx1118basic_stringstream",
	"_ZNSt7__cxx1119basic_ostringstream", "_ZNKSt7__cxx1119basic_ostringstream", "_ZNSt7__cxx1119basic_istringstream", "_ZNKSt7__cxx1119basic_istringstream",
	"_ZNSt13basic_filebuf", "_ZNKSt13basic_filebuf", "_ZNSt13basic_fstream", "_ZNSt14basic_ofstream", "_ZNSt14basic_ifstream", "_ZNKSt14basic_ofstream", "_ZNKSt14basic_ifstream", "_ZNKSt13basic_fstream",
	"_ZSt11_Hash_bytes", "_ZSt15_Fnv_hash_bytes", "_ZNSt8__detail15_List_node_base", "_ZNSt8__detail17_List_node_header",
	"_ZNSt15_List_node_base", "_ZStplI",
	"_ZNKSt8__detail20_Prime_rehash_policy",
}

// internalPrefixes begin symbols of a static C library beside the reserved ones
// (C11 7.1.3): names of its local functions.
var internalPrefixes = []string{
	"__", "_IO_", "_dl_", "_nl_", "_int_", "_Unwind_", "_ZN10__cxxabiv1", "_ZN9__gnu_cxx",
	"msort_with_tmp", "ptmalloc_", "arena_get", "tcache_", "malloc_", "mremap_chunk", "sysmalloc", "systrim",
	"heap_trim", "unlink_chunk", "intel_check_word", "handle_intel", "handle_amd", "handle_zhaoxin", "update_active",
	"get_cet_status", "init_cacheinfo", "uw_", "execute_cfa_program", "execute_stack_op", "read_encoded_value",
	"search_object", "frame_heapsort", "linear_search_fdes", "classify_object_over_fdes", "base_from_",
	"size_of_encoded_value", "gomp_", "nptl_",
}
