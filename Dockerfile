# Waybeam in a container: docs/install.md. The service writes to /data alone, so the root can be read-only.
FROM node:26-slim AS console
WORKDIR /opt/waybeam
COPY package.json package-lock.json .npmrc ./
COPY scripts/console/check scripts/console/check
RUN npm ci
COPY . .
RUN node scripts/console/build.ts

FROM node:26-slim
WORKDIR /opt/waybeam
COPY package.json package-lock.json .npmrc ./
# The image has its Node.js: the packages that carry one are left out.
RUN npm ci --omit=dev --omit=optional
COPY . .
COPY --from=console /opt/waybeam/console/dist console/dist
# Compiled once, by the flags of ./waybeam, which finds the result by them. What it loads ends as a program without arguments does, with 2.
RUN ./scripts/node --max-semi-space-size=16 --v8-pool-size=1 --expose-gc scripts/warm.ts >/dev/null 2>&1 || [ $? = 2 ]
RUN install -d -o node -g node -m 700 /data
USER node
ENV WAYBEAM_DATA=/data
VOLUME /data
EXPOSE 8080 8888 8888/udp
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["./waybeam"]
CMD ["serve"]
