// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.fuzz;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Damages valid inputs as networks and attackers do: flipped bits, lost, repeated and inserted
 * pieces, extreme lengths, the end of one input after the beginning of another. The same seed and
 * number always give the same input.
 */
public final class Mutator {
  private static final int MAX_MUTATIONS = 6;
  private static final int MAX_PIECE_BYTES = 64;
  private static final int MAX_BYTES = 8192;
  private static final int[] EXTREMES = {
    0,
    1,
    -1,
    -2,
    Integer.MIN_VALUE,
    Integer.MAX_VALUE,
    0x7F,
    0x80,
    0xFFFF,
    1 << 20,
    1 << 24,
    1 << 30
  };

  private final long seed;
  private final List<byte[]> valid;

  public Mutator(long seed, List<byte[]> valid) {
    this.seed = seed;
    this.valid = List.copyOf(valid);
  }

  public byte[] input(long number) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L + number);
    byte[] input = any(random).clone();
    for (int left = 1 + random.nextInt(MAX_MUTATIONS); left > 0; left--) {
      input = mutated(input, random);
    }
    return input.length > MAX_BYTES ? Arrays.copyOf(input, MAX_BYTES) : input;
  }

  private byte[] any(Random random) {
    return valid.get(random.nextInt(valid.size()));
  }

  private byte[] mutated(byte[] input, Random random) {
    if (input.length == 0) {
      return any(random).clone();
    }
    int at = random.nextInt(input.length);
    int end = at + random.nextInt(Math.min(MAX_PIECE_BYTES, input.length - at) + 1);
    return switch (random.nextInt(8)) {
      case 0 -> flipped(input, at, 1 << random.nextInt(Byte.SIZE));
      case 1 -> flipped(input, at, random.nextInt());
      case 2 -> Arrays.copyOf(input, at);
      case 3 -> joined(input, end, input, at, input.length); // a piece twice
      case 4 -> joined(input, at, input, end, input.length); // a piece is missing
      case 5 -> withNumber(input, at, EXTREMES[random.nextInt(EXTREMES.length)]);
      case 6 -> inserted(input, at, random);
      default -> spliced(input, at, any(random), random);
    };
  }

  private static byte[] flipped(byte[] input, int at, int bits) {
    input[at] ^= (byte) bits;
    return input;
  }

  private static byte[] withNumber(byte[] input, int at, int number) {
    if (at + Integer.BYTES <= input.length) {
      ByteBuffer.wrap(input).putInt(at, number);
    } else {
      input[at] = (byte) number;
    }
    return input;
  }

  private static byte[] inserted(byte[] input, int at, Random random) {
    byte[] piece = new byte[random.nextInt(MAX_PIECE_BYTES)];
    random.nextBytes(piece);
    return joined(joined(input, at, piece, 0, piece.length), at + piece.length, input, at);
  }

  private static byte[] spliced(byte[] input, int at, byte[] other, Random random) {
    return joined(input, at, other, random.nextInt(other.length + 1));
  }

  private static byte[] joined(byte[] head, int headBytes, byte[] tail, int from) {
    return joined(head, headBytes, tail, from, tail.length);
  }

  private static byte[] joined(byte[] head, int headBytes, byte[] tail, int from, int to) {
    byte[] whole = Arrays.copyOf(head, headBytes + to - from);
    System.arraycopy(tail, from, whole, headBytes, to - from);
    return whole;
  }
}
