package dev.sluice.rdma;

/**
 * An open device with the port that was chosen (ibv_open_device(3)). Closing it closes what is left
 * of its children, in reverse order of their creation.
 */
public interface Device extends AutoCloseable {
  /** The provider's name: {@code verbs} or {@code soft}. */
  String providerName();

  /** The device's name, such as {@code mlx5_0}. */
  String name();

  DeviceAttributes attributes();

  /** The GID that peers reach this port by. */
  Gid gid();

  ProtectionDomain allocateProtectionDomain() throws VerbsException;

  CompletionChannel createCompletionChannel() throws VerbsException;

  /**
   * @param entries completions that it must hold at least (ibv_create_cq(3))
   * @param channel where it announces completions; null for one that is only polled
   * @throws VerbsException EINVAL for more entries than the device allows or less than 1, ENOMEM at
   *     a limit
   */
  CompletionQueue createCompletionQueue(int entries, CompletionChannel channel)
      throws VerbsException;

  @Override
  void close();
}
