/** Hardware verbs: the only package that may use native access. */
package dev.sluice.rdma.verbs;
