/*
 * A link that only delays, as short as it can be written: units of a TUN device
 * go through a ring to the other device, one thread for each direction. The
 * benchmarks run it in the emulator's place, on the same devices.
 *
 *   sketch DELAY_NS    with the devices as descriptors 3 and 4
 *
 * It ends with its input and prints how many units and bytes it read, and its
 * processor time in ns.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { UNIT = 65664, SLOTS = 1024, BATCH = 8 };

struct line {
	int in, out;
	int64_t delay;
	int64_t due[SLOTS];
	int len[SLOTS];
	char *slots;
	uint64_t units, bytes;
};

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *run(void *arg) {
	struct line *l = arg;
	uint64_t head = 0, tail = 0;
	prctl(PR_SET_TIMERSLACK, 1);
	setpriority(PRIO_PROCESS, 0, -20);
	for (;;) {
		int moved = 0;
		for (int i = 0; i < BATCH && head < tail && l->due[head % SLOTS] <= now(); i++, head++, moved++)
			if (write(l->out, l->slots + head % SLOTS * UNIT, l->len[head % SLOTS]) < 0 && errno == EBADF)
				return NULL;
		for (int i = 0; i < BATCH && tail - head < SLOTS; i++, moved++) {
			int n = read(l->in, l->slots + tail % SLOTS * UNIT, UNIT);
			if (n <= 0)
				break;
			l->due[tail % SLOTS] = now() + l->delay;
			l->len[tail % SLOTS] = n;
			l->units++;
			l->bytes += n;
			tail++;
		}
		if (moved)
			continue;
		struct pollfd fd = {l->in, POLLIN, 0};
		struct timespec wait, *until = NULL;
		if (head < tail) {
			int64_t ns = l->due[head % SLOTS] - now();
			if (ns < 10000)
				ns = 10000;
			wait = (struct timespec){ns / 1000000000, ns % 1000000000};
			until = &wait;
		}
		ppoll(&fd, tail - head < SLOTS, until, NULL);
	}
}

int main(int argc, char **argv) {
	static struct line lines[2];
	if (argc != 2)
		return 2;
	for (int i = 0; i < 2; i++) {
		struct line *l = &lines[i];
		l->in = 3 + i;
		l->out = 4 - i;
		l->delay = atoll(argv[1]);
		l->slots = mmap(NULL, (size_t)SLOTS * UNIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (l->slots == MAP_FAILED)
			return 1;
		madvise(l->slots, (size_t)SLOTS * UNIT, MADV_HUGEPAGE);
		pthread_t thread;
		if (pthread_create(&thread, NULL, run, l) != 0)
			return 1;
	}
	char c;
	while (read(0, &c, 1) > 0)
		;
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	printf("%llu %llu %lld\n", (unsigned long long)(lines[0].units + lines[1].units),
	       (unsigned long long)(lines[0].bytes + lines[1].bytes),
	       (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000LL + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000LL);
	fflush(stdout);
	_exit(0);
}
