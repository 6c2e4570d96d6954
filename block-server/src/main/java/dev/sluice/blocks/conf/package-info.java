/**
 * Typed configuration values, and the RDMA settings that executors and node daemons share.
 *
 * <p>{@link VerbsSetting} lists the settings of RDMA devices. An executor and a node daemon each
 * read them by keys with a prefix of their own, and get {@link dev.sluice.rdma.verbs.VerbsOptions}.
 *
 * <p>Each setting has a {@link Type}, which parses a value or rejects it with a message that names
 * the key and the allowed values. {@link Type} has the types in use, in Spark's own syntax for
 * times and sizes. {@link Suggestion} finds the key that a user meant by a misspelt one.
 *
 * <p>The tables of all settings are not here: executors and node daemons have one each.
 */
package dev.sluice.blocks.conf;
