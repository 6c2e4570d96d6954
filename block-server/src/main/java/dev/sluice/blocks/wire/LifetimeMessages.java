package dev.sluice.blocks.wire;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.List;

/**
 * What an application's driver tells the block servers of its nodes, at the port that they have for
 * the application: what has ended, and that the rest has not.
 */
public final class LifetimeMessages {
  private static final int FIRST_ID = 72;

  /** Ids from 72 to 79 are taken by these and their successors. */
  public static final List<MessageType<?>> TYPES =
      List.of(
          new MessageType<>(FIRST_ID + 3, Heard.class, Heard::write, Heard::read),
          new MessageType<>(FIRST_ID + 4, Told.class, Told::write, Told::read));

  private static final byte REMOVE_SHUFFLE = 0;
  private static final byte END_APPLICATION = 1;
  private static final byte RENEW = 2;

  private LifetimeMessages() {}

  /**
   * What the driver says; answered by {@link Heard}.
   *
   * @param application whose driver it is: another one may have the port by now
   */
  public record Told(String application, Lifetime lifetime) {
    private void write(Output output) {
      Fields.writeString(output, application);
      switch (lifetime) {
        case RemoveShuffle(int shuffleId) -> {
          output.writeByte(REMOVE_SHUFFLE);
          output.writeInt(shuffleId);
        }
        case EndApplication() -> output.writeByte(END_APPLICATION);
        case Renew renewal -> {
          output.writeByte(RENEW);
          renewal.write(output);
        }
      }
    }

    private static Told read(Input input) {
      String application = Fields.readString(input);
      Lifetime lifetime =
          switch (input.readByte()) {
            case REMOVE_SHUFFLE -> new RemoveShuffle(Fields.readShuffleId(input));
            case END_APPLICATION -> new EndApplication();
            case RENEW -> Renew.read(input);
            default -> throw new KryoException("Nothing that a driver says");
          };
      return new Told(application, lifetime);
    }
  }

  /** Of the application that {@link Told} names. */
  public sealed interface Lifetime permits RemoveShuffle, EndApplication, Renew {}

  /** The shuffle is over: its regions and files go. */
  public record RemoveShuffle(int shuffleId) implements Lifetime {}

  /** The application is over: all that the node has of it goes. */
  public record EndApplication() implements Lifetime {}

  /**
   * The application lives.
   *
   * @param liveShuffles its shuffles that are not over; of others goes what was handed over before
   *     the node was last heard
   * @param lastHeard the node's last answer before they were listed: however late this comes, they
   *     are all that lived then; of another run of it nothing goes
   */
  public record Renew(int[] liveShuffles, Heard lastHeard) implements Lifetime {
    private void write(Output output) {
      lastHeard.write(output);
      Fields.writeCount(output, liveShuffles.length);
      output.writeInts(liveShuffles);
    }

    private static Renew read(Input input) {
      Heard lastHeard = Heard.read(input);
      return new Renew(input.readInts(Fields.readCount(input, Integer.BYTES)), lastHeard);
    }
  }

  /**
   * It was heard.
   *
   * @param nodeId the {@link NodeId} of the node's block server: another one than before where it
   *     was started again, and then locations that it gave before are stale
   * @param nodeNanos when, by a clock that is the node's alone
   */
  public record Heard(String nodeId, long nodeNanos) {
    /** Of a node that has not answered yet. */
    public static final Heard NEVER = new Heard("", 0);

    /**
     * Whether the node still has what it took while it was known by that id, but for what is over.
     * Not after a reboot, nor where it had heard nothing of the application for too long.
     */
    public boolean keeps(String earlierNodeId) {
      return NodeId.parse(nodeId).since().equals(NodeId.parse(earlierNodeId).since());
    }

    private void write(Output output) {
      Fields.writeString(output, nodeId);
      output.writeLong(nodeNanos);
    }

    private static Heard read(Input input) {
      return new Heard(Fields.readString(input), input.readLong());
    }
  }
}
