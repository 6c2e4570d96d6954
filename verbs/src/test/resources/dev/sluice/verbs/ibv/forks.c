/* Children of the test's process: a JVM cannot fork and go on in Java. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Forks a child that stays until the pipe is closed. It writes over the memory if it is to live on
 * as it is, and becomes another program if it is to execute one. Returns its process id.
 */
int fork_child(char *memory, long bytes, int execute, int pipe_ends[2])
{
	if (pipe(pipe_ends))
		return -1;
	int pid = fork();
	if (pid != 0)
		return pid;
	close(pipe_ends[1]);
	if (execute) {
		dup2(pipe_ends[0], 0);
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(1);
	}
	memset(memory, 0x5a, bytes);
	char end;
	_exit(read(pipe_ends[0], &end, 1));
}

/* Lets the child end. Returns its exit status. */
int end_child(int pid, const int pipe_ends[2])
{
	int status;
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
