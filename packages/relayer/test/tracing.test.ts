import { openTracing, traceFetch } from '@prism-gateway/node/tracing';
import { createGatewayClient } from '@prism-gateway/sdk';
import { type OtlpReceiver, startOtlpReceiver } from '@prism-gateway/testing';
import { startProgram, startWorld, type World } from '@prism-gateway/testing/world';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAIN_NAME, sign, waitFor } from './rig.ts';

let collector: OtlpReceiver;
let world: World;
beforeAll(async () => {
  collector = await startOtlpReceiver();
  world = await startWorld({
    users: 1,
    relayers: 1,
    gateway: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, LOG_LEVEL: 'info' },
  });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await collector?.close();
});

// Shows OPERATE-10.
test('one trace leads from a user of the SDK through the gateway to its store, and a relayer names the request in its own', async () => {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'a-user' };
  const user = openTracing({ environment, serviceName: 'none', onFault: () => undefined });
  if (user === undefined) throw new Error('a collector was named');
  const client = createGatewayClient({ url: world.gateway.url, fetch: traceFetch(user.tracer, fetch) });
  const relayer = await startProgram('relayer', {
    env: { ...world.relayerEnv(0), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  const params = await sign(world, { user: 0 });
  const { requestId } = await user.tracer.run({ name: 'write' }, () =>
    client.submitRequest({ chainName: CHAIN_NAME, action: 'WRITE_DATA_FOR', params }),
  );
  const { status } = await waitFor(world, requestId);
  expect(status).toBe('success');
  await user.close();
  await relayer.stop();
  await world.gateway.stop();

  const { spans } = collector;
  const childrenOf = (spanId: string | undefined) => spans.filter(({ parentSpanId }) => parentSpanId === spanId);
  const wish = spans.find(({ name }) => name === 'write');
  const [call] = childrenOf(wish?.spanId);
  const [served] = childrenOf(call?.spanId);
  expect([wish, call, served]).toMatchObject([
    { service: 'a-user', kind: 1, parentSpanId: undefined },
    { service: 'a-user', kind: 3, name: 'POST' },
    { service: 'prism-gateway', kind: 2, name: 'POST /requests', attributes: { 'http.response.status_code': 201 } },
  ]);
  expect(new Set([wish, call, served].map((span) => span?.traceId)).size).toBe(1);
  expect(childrenOf(served?.spanId).map(({ name }) => name)).toContain('requests.create');

  const written = world.gateway.output.filter((line) => line.startsWith('{'));
  const lines = written.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const ofTrace = lines.filter(({ trace_id: traceId }) => traceId === served?.traceId);
  expect(ofTrace).toMatchObject([{ route: '/requests', status: 201, span_id: served?.spanId }]);

  const moves = spans.filter(({ attributes }) => String(attributes['prism.request_ids']).includes(requestId));
  expect(moves.map(({ name }) => name)).toEqual(expect.arrayContaining(['submitClaims', 'reportOutcomes']));
  const report = moves.find(({ name }) => name === 'reportOutcomes');
  const reported = spans.find(({ traceId, kind }) => traceId === report?.traceId && kind === 2);
  expect(reported).toMatchObject({ service: 'prism-gateway' });
});
