import { type OtlpReceiver, startOtlpReceiver } from '@prism-gateway/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SettingsError } from '../settings/index.ts';
import { traceFetch } from './createTracer.ts';
import { openTracing, type Tracing } from './openTracing.ts';

const nothing = () => undefined;

test('is off unless a collector is named', () => {
  const environment = { OTEL_SERVICE_NAME: 'me', OTEL_EXPORTER_OTLP_ENDPOINT: '' };
  expect(openTracing({ environment, serviceName: 'x', onFault: nothing })).toBeUndefined();
});

test('names every fault, and no value', () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 's3cret-host:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 's3cret',
    OTEL_TRACES_SAMPLER_ARG: '2',
  };
  const open = () => openTracing({ environment, serviceName: 'x', onFault: nothing });
  expect(open).toThrow(SettingsError);
  expect(open).toThrow(/ENDPOINT.*HEADERS.*SAMPLER_ARG/s);
  expect(open).not.toThrow(/s3cret/);
});

describe('with a collector', () => {
  let collector: OtlpReceiver;
  const opened: Tracing[] = [];
  const faults: string[] = [];
  beforeAll(async () => {
    collector = await startOtlpReceiver();
  });
  afterEach(async () => {
    collector.answerWith(200);
    await Promise.all(opened.splice(0).map((tracing) => tracing.close()));
  });
  afterAll(() => collector.close());

  function open(env: Readonly<Record<string, string>> = {}): Tracing {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env };
    const tracing = openTracing({ environment, serviceName: 'service', onFault: (reason) => faults.push(reason) });
    if (tracing === undefined) throw new Error('a collector was named');
    opened.push(tracing);
    return tracing;
  }

  test('delivers spans with their parents, facts, failures and headers', async () => {
    const { tracer, flush } = open({ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b, other=1' });
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await expect(
      tracer.run(
        { name: 'outer', kind: 'server', parent, attributes: { text: 'a', whole: 3, part: 0.5 } },
        async () => {
          tracer.run({ name: 'inner', attributes: { yes: true, ids: ['a', 'b'] } }, () => undefined);
          await Promise.resolve();
          throw new Error('on purpose');
        },
      ),
    ).rejects.toThrow('on purpose');
    await flush();
    const [inner, outer] = ['inner', 'outer'].map((name) => collector.spans.find((span) => span.name === name));
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    expect(outer).toMatchObject({
      traceId,
      parentSpanId: 'b7ad6b7169203331',
      kind: 2,
      failed: true,
      service: 'service',
    });
    expect(outer?.attributes).toEqual({ text: 'a', whole: 3, part: 0.5 });
    expect(inner).toMatchObject({ traceId, parentSpanId: outer?.spanId, kind: 1, failed: false });
    expect(inner?.attributes).toEqual({ yes: true, ids: ['a', 'b'] });
    expect(collector.headers.at(-1)).toMatchObject({ 'x-key': 'a b', other: '1' });
    expect(tracer.current()).toBeUndefined();
  });

  test('records nothing of a trace that its sender does not record, and hands that on', async () => {
    const { tracer, flush } = open();
    const parent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`;
    const seen = tracer.run({ name: 'unwanted', parent }, () => tracer.traceparent());
    expect(seen).toMatch(new RegExp(`^00-${'1'.repeat(32)}-[0-9a-f]{16}-00$`));
    open({ OTEL_TRACES_SAMPLER_ARG: '0' }).tracer.run({ name: 'unwanted' }, nothing);
    await flush();
    expect(collector.spans.filter(({ name }) => name === 'unwanted')).toEqual([]);
  });

  test('keeps what a collector refuses for a while, tells of it once, and drops what it will never take', async () => {
    const { tracer, flush } = open();
    faults.length = 0;
    collector.answerWith(503);
    tracer.run({ name: 'late' }, nothing);
    await flush();
    await flush();
    expect(faults).toEqual(['it answered 503']);
    collector.answerWith(400);
    tracer.run({ name: 'never' }, nothing);
    await flush();
    collector.answerWith(200);
    tracer.run({ name: 'after' }, nothing);
    await flush();
    const names = collector.spans.map(({ name }) => name);
    expect(names).toContain('after');
    expect(names).not.toContain('never');
  });

  test('hands the context to what it calls', async () => {
    const { tracer, flush } = open();
    const parents: (string | null)[] = [];
    const traced = traceFetch(tracer, async (_input, init) => {
      parents.push(new Headers(init?.headers).get('traceparent'));
      return new Response(null, { status: 502 });
    });
    await traced('http://user:password@127.0.0.1/path?secret=1', { method: 'PUT' }).catch(nothing);
    await traced('http://127.0.0.1/path?secret=1', { method: 'PUT', body: 'b', headers: { 'x-a': '1' } });
    await flush();
    const [span] = collector.spans.filter(({ name }) => name === 'PUT').slice(-1);
    expect(parents.at(-1)).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
    expect(span).toMatchObject({ kind: 3, failed: true });
    expect(JSON.stringify(span?.attributes)).not.toMatch(/secret|password/);
  });
});
