# Image of the node daemon; sluice-node.yaml runs one daemon a node. FOLDER has the archive of a release:
#   docker build -f conf/kubernetes/images/node.Dockerfile -t sluice-node:0.1.0 FOLDER
FROM eclipse-temurin:25-jdk
RUN apt-get update && apt-get install -y --no-install-recommends libibverbs1 ibverbs-providers librdmacm1 \
 && rm -rf /var/lib/apt/lists/*
ADD sluice-node-0.1.0.tar.gz /opt/
RUN ln -s sluice-0.1.0 /opt/sluice
USER 185:185
ENTRYPOINT ["/opt/sluice/bin/sluice-node"]
