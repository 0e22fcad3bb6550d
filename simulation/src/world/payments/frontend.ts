/** A shop's frontend: the reference one, run by somebody else, who now and then does it badly. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createFrontendHandler } from '@prism-gateway/payments/frontend-handler';
import { type FrontendStore, openFrontendStore } from '@prism-gateway/payments/frontend-store';
import type { Realm } from '../../core/realm.ts';

/** The faults of a frontend. */
export interface FrontendFaults {
  /** How long a claim lasts, in milliseconds. */
  leaseMs: number;
  /** Each entry is listed a second time. */
  listsTwice: boolean;
  /** Completions are answered with 500; `late`: after they were written down. */
  completions: 'taken' | 'refused' | 'late';
  /** All is answered with 503. */
  isDown: boolean;
}

export interface Frontend {
  readonly name: string;
  readonly url: string;
  readonly secret: string;
  readonly store: FrontendStore;
  readonly faults: FrontendFaults;
  /** Sets all faults back. */
  heal(): void;
  isWell(): boolean;
}

const WELL: FrontendFaults = { leaseMs: 300_000, listsTwice: false, completions: 'taken', isDown: false };

/** The reference frontend's listener, with the faults that are under way. */
function withFaults(listener: RequestListener, faults: FrontendFaults): RequestListener {
  return (request, response) => {
    const isCompletion = request.url?.endsWith('/complete') === true;
    if (faults.isDown) return void response.writeHead(503).end();
    if (isCompletion && faults.completions === 'refused') return void response.writeHead(404).end();
    const isLate = isCompletion && faults.completions === 'late';
    const isDoubled = request.url?.endsWith('/pending') === true && faults.listsTwice;
    if (!isLate && !isDoubled) return void listener(request, response);
    const changed = Object.create(response, {
      writeHead: { value: (status: number) => void response.writeHead(isLate ? 500 : status) },
      end: { value: (text: string) => void response.end(isLate ? '' : listTwice(text)) },
    }) as typeof response & ServerResponse<typeof request>;
    listener(request, changed);
  };
}

function listTwice(text: string): string {
  const { payments } = JSON.parse(text) as { readonly payments?: readonly unknown[] };
  return payments === undefined ? text : JSON.stringify({ payments: [...payments, ...payments] });
}

/** Starts a frontend on a machine of its own. */
export async function startFrontend(realm: Realm, name: string): Promise<Frontend> {
  const faults = { ...WELL };
  const secret = `the secret of ${name} and its relayers`;
  const { value: store } = await realm.start(name, name, async () => {
    const file = join(realm.diskOf(name), 'frontend.db');
    const opened = openFrontendStore({ file, now: Date.now, leaseMs: () => faults.leaseMs });
    const handler = createFrontendHandler({ store: opened, secret });
    createServer(withFaults(handler, faults)).listen(8790);
    return opened;
  });
  return {
    name,
    url: `http://${name}:8790`,
    secret,
    store,
    faults,
    heal: () => void Object.assign(faults, WELL),
    isWell: () => JSON.stringify(faults) === JSON.stringify(WELL),
  };
}
