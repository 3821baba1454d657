/* Programs that attack: `hostile KIND =ARGUMENT`. On the first decision of a match each tries
   what its name says, by raw system calls where the C library would be in the way. What succeeds is
   told on standard error as ESCAPED, and the program ends with 3; where all is refused it answers
   as an honest bot would. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char **words;

static void refused(const char *what, long result) {
    if (result < 0) return;
    fprintf(stderr, "ESCAPED: %s gave %ld\n", what, result);
    exit(3);
}

static void reads(void) {
    const char *others[] = {"/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/1/cmdline",
                            "/proc", "/", "/root", "/home", "/tmp", "/dev/shm", "/var", "."};
    refused((words[2] + 1), open((words[2] + 1), O_RDONLY));
    for (size_t i = 0; i + 1 < sizeof others / sizeof *others; i++)
        refused(others[i], open(others[i], O_RDONLY));
    if (getenv("CANARY")) refused("CANARY in the environment", 0);
}

static void writes(void) {
    char inside[4096];
    refused("open for writing", open((words[2] + 1), O_WRONLY));
    refused("open for appending", open((words[2] + 1), O_WRONLY | O_APPEND));
    refused("truncate by open", open((words[2] + 1), O_RDONLY | O_TRUNC));
    refused("truncate", truncate((words[2] + 1), 0));
    refused("unlink", unlink((words[2] + 1)));
    refused("chmod", chmod((words[2] + 1), 0777));
    refused("rename", rename((words[2] + 1), "/tmp/made_by_a_bot"));
    refused("symlink", symlink("/", "/tmp/linked_by_a_bot"));
    refused("mkdir", mkdir("/tmp/made_by_a_bot", 0700));
    refused("create", open("/tmp/dropped_by_a_bot", O_WRONLY | O_CREAT, 0600));
    refused("create in shm", open("/dev/shm/dropped_by_a_bot", O_WRONLY | O_CREAT, 0600));
    refused("create unnamed", open("/tmp", O_WRONLY | O_TMPFILE, 0600));
    refused("create beside it", open("dropped_by_a_bot", O_WRONLY | O_CREAT, 0600));
    refused("memfd", syscall(SYS_memfd_create, "x", 0));
    if (readlink("/proc/self/exe", inside, sizeof inside) > 0)
        refused("write to its own file", open("/proc/self/exe", O_WRONLY));
    if (open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600) < 0) {
        fprintf(stderr, "ESCAPED: /dev/null should take writing\n");
        exit(3);
    }
}

static void connects(void) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(atoi((words[2] + 1)))};
    inet_pton(AF_INET, "127.0.0.1", &place.sin_addr);
    int found = socket(AF_INET, SOCK_STREAM, 0);
    if (found >= 0) connect(found, (struct sockaddr *)&place, sizeof place);
    refused("TCP socket", found);
    refused("UDP socket", socket(AF_INET, SOCK_DGRAM, 0));
    refused("IPv6 socket", socket(AF_INET6, SOCK_STREAM, 0));
    refused("netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
    refused("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
    int pair[2];
    refused("socket pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static void forks(void) {
    refused("fork", syscall(SYS_fork));
    refused("vfork", syscall(SYS_vfork));
    refused("clone", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    refused("clone, sharing memory", syscall(SYS_clone, 0x100 | SIGCHLD, 0, 0, 0, 0));
    refused("clone3", syscall(SYS_clone3, &(long[11]){0}, 88));
    refused("fork of the C library", fork());
    refused("system", system("true") == 0 ? 0 : -1);
}

static void execs(void) {
    char *call[] = {"sh", "-c", "echo ESCAPED >&2; exit 3", NULL}, *nothing[] = {NULL};
    refused("execve", execve("/bin/sh", call, nothing));
    refused("execve of itself", execve(words[0], words, nothing));
    refused("execve of the loader", execve("/lib64/ld-linux-x86-64.so.2", call, nothing));
    int file = open("/bin/sh", O_RDONLY);
    refused("execveat", syscall(SYS_execveat, file, "", call, nothing, AT_EMPTY_PATH));
}

static void others(void) {
    pid_t victim = atoi((words[2] + 1));
    char stolen[16];
    struct iovec here = {stolen, 16}, there = {(void *)0x400000, 16};
    refused("kill parent", kill(getppid(), 0));
    refused("kill victim", kill(victim, SIGKILL));
    refused("kill all", kill(-1, SIGKILL));
    refused("tgkill", syscall(SYS_tgkill, victim, victim, SIGKILL));
    refused("tkill", syscall(SYS_tkill, victim, SIGKILL));
    refused("queue a signal", syscall(SYS_rt_sigqueueinfo, victim, SIGKILL, 0));
    refused("kill itself", kill(getpid(), SIGKILL));
    refused("raise SIGKILL", syscall(SYS_tgkill, getpid(), gettid(), SIGKILL));
    refused("raise SIGSTOP", syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP));
    refused("pidfd", syscall(SYS_pidfd_open, victim, 0));
    refused("ptrace", syscall(SYS_ptrace, 16, victim, 0, 0));
    refused("trace me", syscall(SYS_ptrace, 0, 0, 0, 0));
    refused("read memory", syscall(SYS_process_vm_readv, victim, &here, 1, &there, 1, 0));
    refused("limits of others", syscall(SYS_prlimit64, victim, RLIMIT_CPU, 0, stolen));
    refused("setrlimit", setrlimit(RLIMIT_NOFILE, &(struct rlimit){8, 8}));
    refused("death signal", prctl(PR_SET_PDEATHSIG, 0));
    refused("session", setsid());
    refused("owner of a pipe", fcntl(0, F_SETOWN, victim));
    refused("signal of a pipe", fcntl(0, F_SETSIG, SIGKILL));
    refused("signals from a pipe", fcntl(0, F_SETFL, O_ASYNC));
    refused("clock of others", clock_gettime((~victim << 3) | 2, &(struct timespec){0}));
}

static void kernel(void) {
    const long calls[] = {SYS_mount, SYS_umount2, SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root,
                          SYS_io_uring_setup, SYS_bpf, SYS_perf_event_open, SYS_keyctl, SYS_add_key,
                          SYS_request_key, SYS_userfaultfd, SYS_personality, SYS_shmget, SYS_msgget,
                          SYS_semget, SYS_mq_open, SYS_timer_create, SYS_sched_setaffinity,
                          SYS_sched_setscheduler, SYS_setpriority, SYS_ioprio_set, SYS_setuid,
                          SYS_seccomp, SYS_landlock_create_ruleset, SYS_inotify_init, SYS_fanotify_init,
                          SYS_open_by_handle_at, SYS_init_module, SYS_reboot, SYS_swapon, SYS_acct,
                          SYS_syslog, SYS_kcmp, SYS_mlockall, SYS_modify_ldt, SYS_splice, SYS_quotactl,
                          SYS_creat, SYS_mknod, SYS_link, SYS_openat2, SYS_name_to_handle_at};
    char what[40];
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        snprintf(what, sizeof what, "system call %ld", calls[i]);
        refused(what, syscall(calls[i], 0, 0, 0, 0, 0, 0));
        if (errno != EPERM && errno != ENOSYS) {
            fprintf(stderr, "ESCAPED: %s was tried: %s\n", what, strerror(errno));
            exit(3);
        }
    }
}

static void *spin(void *nothing) {
    for (volatile long i = 0;; i++);
    return nothing;
}

static void *rest(void *nothing) {
    pause();
    return nothing;
}

static void threads(int count, void *(*work)(void *)) {
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < count; i++) pthread_create(&thread, &small, work, NULL);
}

static void attack(void) {
    const char *kind = words[1];
    if (!strcmp(kind, "reads")) reads();
    else if (!strcmp(kind, "writes")) writes();
    else if (!strcmp(kind, "connects")) connects();
    else if (!strcmp(kind, "forks")) forks();
    else if (!strcmp(kind, "execs")) execs();
    else if (!strcmp(kind, "others")) others();
    else if (!strcmp(kind, "kernel")) kernel();
    else if (!strcmp(kind, "few threads")) threads(8, rest);
    else if (!strcmp(kind, "many threads")) { threads(5000, rest); pause(); }
    else if (!strcmp(kind, "spins")) spin(NULL);
    else if (!strcmp(kind, "spins in a thread")) { threads(1, spin); pause(); }
    else if (!strcmp(kind, "sleeps")) pause();
    else if (!strcmp(kind, "eats")) for (;;) { memset(malloc(1 << 22), 1, 1 << 22); usleep(2000); }
    else if (!strcmp(kind, "gulps")) {
        size_t size = (size_t)atoi((words[2] + 1)) << 20;
        char *got = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED) abort();
        memset(got, 1, size);
        exit(9);
    }
    else if (!strcmp(kind, "floods")) for (;;) fputs("never ending\n", stderr);
    else if (!strcmp(kind, "closes")) { fclose(stdout); pause(); }
    else if (!strcmp(kind, "ends")) exit(9);
    else if (!strcmp(kind, "aborts")) abort();
    else if (!strcmp(kind, "old calls")) __asm__ volatile("int $0x80" : : "a"(20));
    else if (!strcmp(kind, "terminates")) { raise(SIGTERM); raise(SIGKILL); raise(SIGINT); }
    else if (!strcmp(kind, "garbage")) puts("{\"acti");
    else if (!strcmp(kind, "twice")) fputs("5\n5\n", stdout);
    else if (!strcmp(kind, "long")) for (int i = 0; i < 100000; i++) putchar('5');
    else if (!strcmp(kind, "deep")) { for (int i = 0; i < 60000; i++) putchar('['); puts(""); }
    else if (!strcmp(kind, "zeros")) { fwrite("\0\0\0\n", 4, 1, stdout); }
    else if (!strcmp(kind, "huge")) { for (int i = 0; i < 5000; i++) putchar('9'); puts(""); }
    else if (!strcmp(kind, "large")) puts("{\"action\":99999999999999999999999}");
    else if (!strcmp(kind, "text")) puts("{\"action\":\"5\"}");
    else if (!strcmp(kind, "nan")) puts("NaN");
    else if (!strcmp(kind, "null")) puts("{\"action\":null}");
    else if (!strcmp(kind, "true")) puts("{\"action\":true}");
    else if (!strcmp(kind, "list")) puts("[5]");
    fflush(stdout);
}

int main(int count, char **given) {
    static char line[65536];
    words = given;
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "{\"protocol\":", 12) == 0) puts("{\"protocol\":1}");
        else if (strncmp(line, "{\"decide\":", 10) == 0) {
            attack();
            if (strstr("garbage twice long deep zeros huge large text nan null true list", words[1]))
                continue;
            char *legal = strstr(line, "\"legal\":[") + 9;
            printf("%.*s\n", (int)strcspn(legal, ",]"), legal);
        }
        fflush(stdout);
    }
    return count > 99;
}
