import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@prism-gateway/testing';

/** Debian's nginx, with the configuration of deploy/nginx. */
export interface Nginx extends AsyncDisposable {
  /** Ports of 127.0.0.1. */
  readonly ports: { readonly tls: number; readonly plain: number };
  /** Lines of its log of calls. */
  readLog(): string;
}

const CONFIGURATION = fileURLToPath(new URL('../../nginx/prism.conf', import.meta.url));
const RETRY_MS = 20;

/** Replaces what an operator has to fill in; each of them must be there. */
function fillIn(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((filled, [from, to]) => {
    if (!filled.includes(from)) throw new Error(`prism.conf has no "${from}"`);
    return filled.replaceAll(from, to);
  }, text);
}

function writeCertificate(folder: string): { readonly key: string; readonly certificate: string } {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=gateway.example.org', '-days', '2'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', ...files, ...subject],
    {
      stdio: 'ignore',
    },
  );
  return { key, certificate };
}

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function writeConfiguration(
  folder: string,
  options: {
    readonly upstream: string;
    readonly ports: Nginx['ports'];
    readonly changes: Readonly<Record<string, string>>;
  },
): string {
  const { key, certificate } = writeCertificate(folder);
  const { tls, plain } = options.ports;
  const site = fillIn(readFileSync(CONFIGURATION, 'utf8'), {
    'server 127.0.0.1:8787;': `server ${options.upstream};`,
    'listen 80;': `listen 127.0.0.1:${plain};`,
    'listen [::]:80;': '',
    'listen 443 ssl http2;': `listen 127.0.0.1:${tls} ssl http2;`,
    'listen [::]:443 ssl http2;': '',
    '/etc/letsencrypt/live/gateway.example.org/fullchain.pem': certificate,
    '/etc/letsencrypt/live/gateway.example.org/privkey.pem': key,
    '/var/log/nginx/prism.log': join(folder, 'calls.log'),
    ...options.changes,
  });
  writeFileSync(join(folder, 'prism.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = join(folder, 'nginx.conf');
  writeFileSync(
    main,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/errors.log;
events { worker_connections 4096; }
http {
${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
include ${folder}/prism.conf;
}
`,
  );
  return main;
}

/**
 * Starts Debian's nginx on free ports of 127.0.0.1, with the configuration as it is shipped but for addresses and certificate.
 *
 * @param nginx - path of the program
 * @param options.upstream - host and port of the gateway
 * @param options.changes - further texts of the configuration to replace
 * @throws Error with what it printed, if it ends instead
 */
export async function startNginx(
  nginx: string,
  options: { readonly upstream: string; readonly changes?: Readonly<Record<string, string>> },
): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'prism-nginx-'));
  const ports = { tls: await findFreePort(), plain: await findFreePort() };
  const main = writeConfiguration(folder, { changes: {}, ...options, ports });
  // Workers of a master that runs as root are of another user.
  execFileSync('chmod', ['0755', folder]);
  const child = spawn(nginx, ['-p', folder, '-c', main], { stdio: ['ignore', 'ignore', 'pipe'] });
  const printed: string[] = [];
  child.stderr.on('data', (text) => printed.push(String(text)));
  const closed = once(child, 'close');
  while (!(await isListening(ports.tls))) {
    if (child.exitCode !== null) throw new Error(`nginx ended:\n${printed.join('')}`);
    await pause(RETRY_MS);
  }
  return {
    ports,
    readLog: () => readFileSync(join(folder, 'calls.log'), 'utf8'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
