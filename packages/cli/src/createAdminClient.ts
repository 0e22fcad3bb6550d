import { plain } from './writeTable.ts';

/** A gateway's refusal, or none that answers: the message is for the person at the terminal. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** `COMMAND_BUSY`: it may be granted later. */
  readonly code: 'COMMAND_USAGE' | 'COMMAND_REFUSED' | 'COMMAND_BUSY' | 'COMMAND_UNREACHABLE';

  constructor(code: CommandError['code'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** One call of the administrator. */
export interface AdminCall {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly json?: unknown;
  /** Ends the wait for an answer. */
  readonly signal?: AbortSignal | undefined;
}

/** Calls a gateway with the administrator's key. @returns the body of a good answer */
export type CallAdmin = (call: AdminCall) => Promise<Record<string, unknown>>;

/** How long a gateway may take to answer, in milliseconds: longer than its own limit. */
const ANSWER_MS = 35_000;

function writeUrl(url: string, { path, query = {} }: AdminCall): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return given.length === 0 ? `${url}${path}` : `${url}${path}?${new URLSearchParams(Object.fromEntries(given))}`;
}

/** A refusal in words: the sentence, and each fault by its place. */
function describeRefusal(status: number, body: Record<string, unknown>): string {
  const details = Array.isArray(body.details) ? body.details : [];
  const faults = details.map(({ path, message }) => `  ${plain(path)}: ${plain(message)}`);
  const hint = status === 401 ? ['Give the key of this gateway: ADMIN_API_KEY, or --key-file.'] : [];
  // Whoever answers at this address wrote it, with words of strangers in it.
  const sentence = typeof body.error === 'string' ? plain(body.error) : 'The gateway gave no reason.';
  return [`${sentence} (${status})`, ...faults, ...hint].join('\n');
}

const TLS_FAULT = /^(?:CERT_|ERR_TLS_|ERR_SSL_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|EPROTO)/;

/** Says which step to the gateway failed: its name, TLS, or the call itself. */
function describeFailure(url: string, failure: unknown): string {
  // fetch wraps what the network says.
  const { cause, name } = Object(failure);
  const code = String(Object(cause).code ?? '');
  const { hostname } = new URL(url);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `The name ${hostname} cannot be found (${code}): check --url, and DNS.`;
  if (TLS_FAULT.test(code)) {
    return `TLS with ${hostname} failed (${code}): check its certificate; NODE_EXTRA_CA_CERTS names a file of further authorities.`;
  }
  if (name === 'TimeoutError') return `${url} has not answered within ${ANSWER_MS / 1000} s.`;
  return `No gateway answers at ${url}: start it, or give its --url.`;
}

/**
 * Makes the client.
 *
 * @param gateway.url - base URL, without a trailing slash
 * @param gateway.key - the administrator's
 * @returns a function that throws CommandError
 */
export function createAdminClient({ url, key }: { readonly url: string; readonly key: string }): CallAdmin {
  return async function callAdmin(call) {
    const { method = 'GET', json, signal } = call;
    const late = AbortSignal.timeout(ANSWER_MS);
    const headers = { 'x-admin-key': key, ...(json !== undefined && { 'content-type': 'application/json' }) };
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const init = {
      method,
      headers,
      redirect: 'error',
      signal: signal ? AbortSignal.any([late, signal]) : late,
      ...body,
    } as const;
    const answer = await fetch(writeUrl(url, call), init).catch((cause: unknown) => {
      throw new CommandError('COMMAND_UNREACHABLE', describeFailure(url, cause), { cause });
    });
    const text: unknown = await answer.json().catch(() => undefined);
    const read = typeof text === 'object' && text !== null ? { ...text } : {};
    const { status } = answer;
    const code = status === 429 || status >= 500 ? 'COMMAND_BUSY' : 'COMMAND_REFUSED';
    if (!answer.ok) throw new CommandError(code, describeRefusal(status, read));
    return read;
  };
}
