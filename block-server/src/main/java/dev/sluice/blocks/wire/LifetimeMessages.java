package dev.sluice.blocks.wire;

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
          new MessageType<>(
              FIRST_ID, RemoveShuffle.class, RemoveShuffle::write, RemoveShuffle::read),
          new MessageType<>(
              FIRST_ID + 1, EndApplication.class, EndApplication::write, EndApplication::read),
          new MessageType<>(FIRST_ID + 2, Renew.class, Renew::write, Renew::read),
          new MessageType<>(FIRST_ID + 3, Heard.class, Heard::write, Heard::read));

  private LifetimeMessages() {}

  /** What the driver says; answered by {@link Heard}. */
  public sealed interface Lifetime permits RemoveShuffle, EndApplication, Renew {}

  /** The shuffle is over: its regions and files go. */
  public record RemoveShuffle(int shuffleId) implements Lifetime {
    private void write(Output output) {
      output.writeInt(shuffleId);
    }

    private static RemoveShuffle read(Input input) {
      return new RemoveShuffle(Fields.readShuffleId(input));
    }
  }

  /** The application is over: all that the node has of it goes. */
  public record EndApplication() implements Lifetime {
    private void write(Output output) {}

    private static EndApplication read(Input input) {
      return new EndApplication();
    }
  }

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
   * @param nodeId what the node's block server is known by: another one than before where it was
   *     started again, and then locations that it gave before are stale
   * @param nodeNanos when, by a clock that is the node's alone
   */
  public record Heard(String nodeId, long nodeNanos) {
    /** Of a node that has not answered yet. */
    public static final Heard NEVER = new Heard("", 0);

    private void write(Output output) {
      Fields.writeString(output, nodeId);
      output.writeLong(nodeNanos);
    }

    private static Heard read(Input input) {
      return new Heard(Fields.readString(input), input.readLong());
    }
  }
}
