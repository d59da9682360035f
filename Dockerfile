# The service as an image. Build it with `docker build -t mocap-uplink-service .`; docs/service.md says how to run it.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsup.config.ts ./
COPY scripts/new-database.js scripts/one-element-type.js scripts/third-party-licenses.js ./scripts/
COPY src ./src
RUN npm run --silent build -- --no-dts --silent

# Only the packages that the service loads, in their locked versions.
FROM node:24-bookworm-slim AS packages
WORKDIR /packages
COPY package.json package-lock.json ./
COPY scripts/service-manifest.ts ./scripts/
COPY src/service/peers.ts src/service/error-code.ts ./src/service/
RUN node scripts/service-manifest.ts && npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# For a single copy that keeps everything in a folder. Copies with PostgreSQL and a bucket write nothing.
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=packages /packages/package.json ./
COPY --from=packages /packages/node_modules ./node_modules
COPY --from=build /build/dist/cli ./dist/cli
COPY --from=build /build/dist/page ./dist/page
COPY --from=build /build/dist/third-party-licenses.txt ./dist/
USER node
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli/cli.js"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8787", "--data", "/data", "--managed-keys", "--log"]
