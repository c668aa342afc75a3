package duckdb

/*
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static int heavy;

static void *beat(void *core) {
	pthread_setname_np(pthread_self(), "attend");
	cpu_set_t only;
	CPU_ZERO(&only);
	CPU_SET((long)core, &only);
	sched_setaffinity(0, sizeof only, &only);
	prctl(PR_SET_TIMERSLACK, 1000L);
	const struct timespec pause = {0, 300000};
	for (;;) {
		pthread_mutex_lock(&lock);
		while (heavy == 0) pthread_cond_wait(&wanted, &lock);
		pthread_mutex_unlock(&lock);
		nanosleep(&pause, 0);
	}
	return 0;
}

// ff_begin starts a beat on every core that the program may use.
static void ff_begin(void) {
	cpu_set_t all;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (sched_getaffinity(0, sizeof all, &all) == 0) {
		for (long core = 0; core < CPU_SETSIZE; core++) {
			pthread_t thread;
			if (CPU_ISSET(core, &all)) pthread_create(&thread, &attr, beat, (void *)core);
		}
	}
	pthread_attr_destroy(&attr);
}

static void ff_heavy(int more) {
	pthread_mutex_lock(&lock);
	heavy += more;
	if (heavy > 0) pthread_cond_broadcast(&wanted);
	pthread_mutex_unlock(&lock);
}
*/
import "C"

import "sync"

var startBeats = sync.OnceFunc(func() { C.ff_begin() })

// attend has the kernel look often, on every core, whether somebody waits for
// the core, until the returned function is called. On Linux 6.18 threads that
// woke up while a scan had their core were seen to wait for the next tick,
// which may be 4 ms away: many times what it takes to read a record. So a
// thread on each core wakes up every 0.3 ms while anything heavy runs. They are
// threads of C, for Go's would need its processors, which others want.
func attend() (done func()) {
	startBeats()
	C.ff_heavy(1)
	return func() { C.ff_heavy(-1) }
}
