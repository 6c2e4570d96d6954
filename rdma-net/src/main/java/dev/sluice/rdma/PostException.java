package dev.sluice.rdma;

/**
 * A chain of work requests of which one was refused at posting time: those before {@link #badIndex}
 * are posted, that one and all behind it are not (the {@code bad_wr} of ibv_post_send(3)).
 */
public final class PostException extends VerbsException {
  private static final long serialVersionUID = 1L;

  private final int badIndex;

  public PostException(String operation, int errno, String reason, int badIndex) {
    super(operation + " refused work request " + badIndex, errno, reason);
    this.badIndex = badIndex;
  }

  /** Index in the posted list of the first work request that was not posted. */
  public int badIndex() {
    return badIndex;
  }
}
