// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.WorkCompletionStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A seeded plan of the requests that fail at a responder, and how. The seed makes failures
 * repeatable.
 *
 * <p>A plan consists of parts separated by semicolons, such as {@code
 * seed=7;minLength=4096;corrupt=0.01;kill@100;delay=0.05:20;status=0.01:REM_OP_ERR}:
 *
 * <pre>
 * plan   = [ part { ";" part } ]
 * part   = "seed=" integer            seed of the probabilities; default 0
 *        | "minLength=" bytes         spares shorter requests and does not count them; default 0
 *        | "corrupt" when             falsifies one byte of the answer to a READ
 *        | "kill" when                cuts the connection
 *        | "delay" when ":" ms        delays the answer, and those behind it
 *        | "status" when ":" status   REM_INV_REQ_ERR, REM_ACCESS_ERR or REM_OP_ERR as answer
 * when   = "@" n                      exactly the n-th request that the device serves, from 1
 *        | "=" probability            each request with this probability, more than 0, at most 1
 * </pre>
 *
 * <p>If several parts apply to a request, the first one decides. The configuration parses a plan,
 * and the {@link Responder} asks for each request. Immutable; each device starts a sequence of its
 * own.
 */
public final class FaultPlan {
  /** A plan without faults. */
  public static final FaultPlan NONE = new FaultPlan(0, 0, List.of());

  private final long seed;
  private final long minLength;
  private final List<Rule> rules;

  private FaultPlan(long seed, long minLength, List<Rule> rules) {
    this.seed = seed;
    this.minLength = minLength;
    this.rules = List.copyOf(rules);
  }

  /**
   * Parses a plan.
   *
   * @throws IllegalArgumentException if the text is not a plan; names the wrong part
   */
  public static FaultPlan parse(String text) {
    long seed = 0;
    long minLength = 0;
    List<Rule> rules = new ArrayList<>();
    for (String raw : text.split(";")) {
      String part = raw.strip();
      try {
        if (part.startsWith("seed=")) {
          seed = Long.parseLong(part.substring("seed=".length()));
        } else if (part.startsWith("minLength=")) {
          minLength = atLeast(0, Long.parseLong(part.substring("minLength=".length())));
        } else if (!part.isEmpty()) {
          rules.add(Rule.parse(part));
        }
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "fault plan: bad part '" + part + "': " + e.getMessage(), e);
      }
    }
    return new FaultPlan(seed, minLength, rules);
  }

  private static long atLeast(long min, long value) {
    if (value < min) {
      throw new IllegalArgumentException("must be at least " + min);
    }
    return value;
  }

  /** The plan in the syntax of {@link #parse}. */
  @Override
  public String toString() {
    List<String> parts = new ArrayList<>();
    if (seed != 0) {
      parts.add("seed=" + seed);
    }
    if (minLength != 0) {
      parts.add("minLength=" + minLength);
    }
    rules.forEach(rule -> parts.add(rule.toString()));
    return String.join(";", parts);
  }

  Sequence start() {
    return new Sequence();
  }

  /** The plan's decisions for one device, request by request. Any thread. */
  final class Sequence {
    private final Random random = new Random(seed);
    private long served;

    private Sequence() {}

    /**
     * @param length bytes that the request asks for
     */
    Fault next(long length) {
      return rules.isEmpty() || length < minLength ? Fault.NONE : decide();
    }

    private synchronized Fault decide() {
      served++;
      Fault result = Fault.NONE;
      // Every rule draws for every request, so that no rule changes the decisions of another.
      for (Rule rule : rules) {
        if (rule.applies(served, random) && result == Fault.NONE) {
          result = rule.fault;
        }
      }
      return result;
    }
  }

  /**
   * One part of a plan.
   *
   * @param request number of the request that it applies to, from 1; 0 for a rule with a
   *     probability
   * @param probability for each request; 0 for a rule with a number
   * @param fault that the rule causes
   */
  private record Rule(long request, double probability, Fault fault) {

    static Rule parse(String part) {
      int nameEnd = 0;
      while (nameEnd < part.length() && Character.isLetter(part.charAt(nameEnd))) {
        nameEnd++;
      }
      if (nameEnd == part.length()) {
        throw new IllegalArgumentException("'@n' or '=probability' is missing");
      }
      int colon = part.indexOf(':', nameEnd);
      String when = part.substring(nameEnd + 1, colon < 0 ? part.length() : colon);
      Fault fault = fault(part.substring(0, nameEnd), colon < 0 ? null : part.substring(colon + 1));
      return switch (part.charAt(nameEnd)) {
        case '@' -> new Rule(atLeast(1, Long.parseLong(when)), 0, fault);
        case '=' -> new Rule(0, probability(when), fault);
        default -> throw new IllegalArgumentException("'@n' or '=probability' is missing");
      };
    }

    private static double probability(String text) {
      double value = Double.parseDouble(text);
      if (value > 0 && value <= 1) {
        return value;
      }
      throw new IllegalArgumentException("the probability must be more than 0 and at most 1");
    }

    private static Fault fault(String name, @Nullable String argument) {
      Fault.Kind kind =
          switch (name) {
            case "corrupt" -> Fault.Kind.CORRUPT;
            case "kill" -> Fault.Kind.KILL;
            case "delay" -> Fault.Kind.DELAY;
            case "status" -> Fault.Kind.STATUS;
            default ->
                throw new IllegalArgumentException(
                    "'" + name + "' is not one of seed, minLength, corrupt, kill, delay, status");
          };
      boolean takesArgument = kind == Fault.Kind.DELAY || kind == Fault.Kind.STATUS;
      if (takesArgument && argument == null) {
        throw new IllegalArgumentException(name + " needs ':' and a value");
      }
      if (!takesArgument && argument != null) {
        throw new IllegalArgumentException(name + " takes no ':'");
      }
      return switch (kind) {
        case DELAY ->
            new Fault(kind, (int) atLeast(0, Integer.parseInt(requireNonNull(argument))), null);
        case STATUS -> new Fault(kind, 0, failure(requireNonNull(argument)));
        default -> new Fault(kind, 0, null);
      };
    }

    private static WorkCompletionStatus failure(String name) {
      WorkCompletionStatus status = WorkCompletionStatus.valueOf(name);
      if (!Answer.REFUSALS.contains(status)) {
        throw new IllegalArgumentException(status + " is not one of " + Answer.REFUSALS);
      }
      return status;
    }

    boolean applies(long number, Random random) {
      return request == 0 ? random.nextDouble() < probability : request == number;
    }

    @Override
    public String toString() {
      String when = request == 0 ? "=" + probability : "@" + request;
      return switch (fault.kind()) {
        case CORRUPT -> "corrupt" + when;
        case KILL -> "kill" + when;
        case DELAY -> "delay" + when + ":" + fault.delayMs();
        case STATUS -> "status" + when + ":" + fault.status();
        case DELIVER -> throw new IllegalStateException("a rule cannot have the fault DELIVER");
      };
    }
  }

  /**
   * The treatment of one request at its responder. A {@link FaultPlan} chooses it; the {@link
   * Responder} carries it out on the event loop's thread. Immutable.
   *
   * @param kind of the fault
   * @param delayMs for {@link Kind#DELAY}
   * @param status for {@link Kind#STATUS}; otherwise null
   */
  record Fault(Kind kind, int delayMs, @Nullable WorkCompletionStatus status) {
    static final Fault NONE = new Fault(Kind.DELIVER, 0, null);

    enum Kind {
      /** Serves the request normally. */
      DELIVER,
      /** Delays the answer. */
      DELAY,
      /** Answers with an error instead of serving the request. */
      STATUS,
      /** Falsifies one byte of the answer to a READ. */
      CORRUPT,
      /** Cuts the connection. */
      KILL
    }
  }
}
