import { open, rename } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@prism-gateway/runtime/logs';
import type { Metrics } from './createMetrics.ts';

/** Where metrics go. */
export interface PublishOptions {
  readonly metrics: Metrics;
  /** Replaced in one step, so that nobody reads half of it. */
  readonly file?: string | undefined;
  /** A Pushgateway's URL, with job and instance in its path. */
  readonly pushUrl?: string | undefined;
  readonly intervalMs: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** For one push, in milliseconds. */
const PUSH_TIMEOUT_MS = 10_000;

async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  const handle = await open(draft, 'w', 0o644);
  try {
    // Whatever the process's mask: the collector of metrics is another user.
    await handle.chmod(0o644);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

async function push(url: string, body: string): Promise<void> {
  const signal = AbortSignal.timeout(PUSH_TIMEOUT_MS);
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
  const response = await fetch(url, { method: 'PUT', headers, body, signal, redirect: 'error' });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the gateway answered with status ${response.status}`);
}

/**
 * Writes metrics to a file, pushes them, or both, now and then.
 *
 * @param options - the metrics, and where they go
 * @see https://github.com/prometheus/pushgateway#put-method
 */
export async function publishMetrics(options: PublishOptions): Promise<void> {
  const { metrics, file, pushUrl, intervalMs, log, signal } = options;
  if (file === undefined && pushUrl === undefined) return;
  while (!signal.aborted) {
    const text = await metrics.write();
    const writes = [
      file === undefined ? undefined : replaceFile(file, text),
      pushUrl === undefined ? undefined : push(pushUrl, text),
    ];
    for (const written of await Promise.allSettled(writes)) {
      if (written.status === 'rejected')
        log.warn({ reason: `${written.reason}`.slice(0, 300) }, 'metrics not published');
    }
    await pause(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}
