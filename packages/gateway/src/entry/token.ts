import { CommandLineError, parseCommandLine, USAGE_STATUS, writeFailure } from '@prism-gateway/node/command-line';

/** The command's surroundings. */
export interface TokenCommand {
  /** Arguments after the script's name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof globalThis.fetch;
  /** Takes a line for stdout: the token and nothing else. */
  readonly print: (line: string) => void;
  /** Takes a line for stderr. */
  readonly hint: (line: string) => void;
}

const HELP = `Gets or revokes an access token of the built-in development issuer.

  npx prism token alice                     a token for the user "alice"
  npx prism token alice --expires-in 60     one that ends after 60 seconds (default 3600)
  npx prism token --revoke TOKEN            ends a token

  --url URL    the gateway; default PUBLIC_URL, else http://HOST:PORT, else http://127.0.0.1:8787
  --json       the issuer's answer, one line; of --revoke {"revoked":true}
  --help       this text

In a script: TOKEN=$(npx prism token alice)`;

/** A fault that ends the command with one sentence. */
class TokenCommandError extends Error {
  override readonly name = 'TokenCommandError';
  readonly code = 'TOKEN_COMMAND_FAILED';
}

/** The issuer is in the same machine's gateway: no answer in this time means none. */
const TIMEOUT_MS = 10_000;

type Order =
  | { readonly verb: 'help' }
  | {
      readonly verb: 'issue';
      readonly url: string;
      readonly sub: string;
      readonly json: boolean;
      readonly expiresIn?: number;
    }
  | { readonly verb: 'revoke'; readonly url: string; readonly token: string; readonly json: boolean };

function readArguments(args: readonly string[]) {
  return parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      revoke: { type: 'string' },
      'expires-in': { type: 'string' },
      url: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
}

/** The address that the gateway prints, made from the same settings. */
function defaultUrl({ PUBLIC_URL, HOST, PORT }: TokenCommand['env']): string {
  if (PUBLIC_URL) return PUBLIC_URL;
  const host = HOST || '127.0.0.1';
  // One cannot call "every interface"; the loopback one is among them.
  const callable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${callable.includes(':') ? `[${callable}]` : callable}:${PORT || '8787'}`;
}

function readSeconds(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > 86_400)
    throw new CommandLineError('--expires-in takes whole seconds, 1 to 86400. Try --help.');
  return Number(text);
}

function readOrder({ args, env }: TokenCommand): Order {
  const { values, positionals } = readArguments(args);
  if (values.help === true) return { verb: 'help' };
  const url = (values.url ?? defaultUrl(env)).replace(/\/+$/, '');
  if (!URL.canParse(url)) throw new CommandLineError(`"${url}" is not a URL. Try --url http://127.0.0.1:8787.`);
  const json = values.json === true;
  if (values.revoke !== undefined && positionals.length === 0)
    return { verb: 'revoke', url, token: values.revoke, json };
  const [sub, ...more] = positionals;
  if (!sub || more.length > 0 || values.revoke !== undefined) {
    throw new CommandLineError('Give one user id, like "alice", or --revoke TOKEN. Try --help.');
  }
  const seconds = values['expires-in'];
  return { verb: 'issue', url, sub, json, ...(seconds === undefined ? {} : { expiresIn: readSeconds(seconds) }) };
}

async function readJson(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === 'object' && body !== null ? { ...body } : {};
}

async function post(command: TokenCommand, call: { url: string; path: string; type: string; body: string }) {
  const { url, path, type, body } = call;
  const init = { method: 'POST', headers: { 'content-type': type }, body, signal: AbortSignal.timeout(TIMEOUT_MS) };
  const response = await command.fetch(`${url}/dev/identity${path}`, init).catch((error: unknown) => {
    throw new TokenCommandError(`No gateway answers at ${url}: start it with "npx prism start", or give its --url.`, {
      cause: error,
    });
  });
  const answer = await readJson(response);
  if (response.status === 404) {
    throw new TokenCommandError(
      `The gateway at ${url} has no development issuer: it runs with STAGE=prod or with an IDENTITY_ISSUER of its own.`,
    );
  }
  if (response.ok) return answer;
  const reason = typeof answer.error === 'string' ? answer.error : 'It gave no reason.';
  throw new TokenCommandError(`The gateway at ${url} refused with ${response.status}: ${reason}`);
}

async function issue(command: TokenCommand, { url, sub, json, expiresIn }: Order & { verb: 'issue' }): Promise<void> {
  const body = JSON.stringify({ sub, ...(expiresIn === undefined ? {} : { expiresIn }) });
  const answer = await post(command, { url, path: '/token', type: 'application/json', body });
  if (typeof answer.access_token !== 'string') throw new TokenCommandError(`What answers at ${url} is no gateway.`);
  command.print(json ? JSON.stringify(answer) : answer.access_token);
  command.hint(
    `An access token for "${sub}"; it ends in ${String(answer.expires_in)} s. Send it as: Authorization: Bearer …`,
  );
}

async function revoke(command: TokenCommand, { url, token, json }: Order & { verb: 'revoke' }): Promise<void> {
  const body = new URLSearchParams({ token }).toString();
  await post(command, { url, path: '/revoke', type: 'application/x-www-form-urlencoded', body });
  if (json) command.print(JSON.stringify({ revoked: true }));
  command.hint('Revoked. A gateway that has just let it in may do so for up to 15 s more.');
}

/**
 * `npx prism token`: gets or revokes an access token of the running gateway's development issuer.
 *
 * @param command - arguments and surroundings
 * @returns the exit code: 0; after one sentence on what is wrong 2 for the arguments, 1 for all else
 * @see docs/specification.md TOKEN-8
 */
export async function runTokenCommand(command: TokenCommand): Promise<number> {
  try {
    const order = readOrder(command);
    if (order.verb === 'help') command.print(HELP);
    else if (order.verb === 'issue') await issue(command, order);
    else await revoke(command, order);
    return 0;
  } catch (error) {
    if (!(error instanceof TokenCommandError || error instanceof CommandLineError)) throw error;
    command.hint(writeFailure(command.args, error.message));
    return error instanceof CommandLineError ? USAGE_STATUS : 1;
  }
}

if (import.meta.main) {
  process.exitCode = await runTokenCommand({
    args: process.argv.slice(2),
    env: process.env,
    fetch: globalThis.fetch,
    print: (line) => console.log(line),
    hint: (line) => console.error(line),
  });
}
