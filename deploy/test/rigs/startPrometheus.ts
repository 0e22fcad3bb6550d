import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@prism-gateway/testing';
import { parse, stringify } from 'yaml';

/** A Prometheus at work. */
export interface Prometheus extends AsyncDisposable {
  /** Asks its API. @param path - below `/api/v1` @returns `data` @throws Error with what it answers, if that is no success */
  ask<T>(path: string): Promise<T>;
}

interface ScrapeConfig {
  readonly job_name: string;
  readonly static_configs: readonly { readonly targets: readonly string[] }[];
}

const folder = fileURLToPath(new URL('../../prometheus', import.meta.url));

/** Our configuration, with other addresses, and without the pauses of every day. */
function writeConfig(to: string, targets: Readonly<Record<string, string>>): void {
  const config = parse(readFileSync(join(folder, 'prometheus.yml'), 'utf8'));
  const jobs = (config.scrape_configs as readonly ScrapeConfig[]).map((job) => {
    const url = targets[job.job_name];
    if (url === undefined) throw new Error(`Nobody runs ${job.job_name}.`);
    return { ...job, static_configs: [{ targets: [new URL(url).host] }] };
  });
  const global = { ...config.global, scrape_interval: '1s', evaluation_interval: '1s' };
  writeFileSync(to, stringify({ ...config, global, scrape_configs: jobs }));
}

/**
 * Starts Prometheus with the configuration and the rules of `deploy/prometheus`.
 *
 * @param program - its path
 * @param targets - address of each job's metrics
 * @throws Error with what it printed, when it ends instead
 */
export async function startPrometheus(program: string, targets: Readonly<Record<string, string>>): Promise<Prometheus> {
  const dir = mkdtempSync(join(tmpdir(), 'prism-prometheus-'));
  writeConfig(join(dir, 'prometheus.yml'), targets);
  copyFileSync(join(folder, 'alerts.yml'), join(dir, 'alerts.yml'));
  const address = `127.0.0.1:${await findFreePort()}`;
  const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`];
  const child = spawn(program, args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = once(child, 'close');
  let printed = '';
  const ready = Promise.withResolvers<void>();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.includes('Server is ready')) ready.resolve();
  });
  child.once('close', () => ready.reject(new Error(`Prometheus has ended:\n${printed}`)));
  await ready.promise;
  return {
    async ask(path) {
      const answer = await fetch(`http://${address}/api/v1${path}`);
      // Prometheus' own form.
      const { status, data, error } = (await answer.json()) as { status: string; data: never; error?: string };
      if (status !== 'success') throw new Error(`${path}: ${error}`);
      return data;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await closed;
      rmSync(dir, { recursive: true });
    },
  };
}
