/** oidc-provider's storage interface, as far as tokens need it. */
interface Adapter {
  upsert(id: string, payload: Readonly<Record<string, unknown>>): Promise<void>;
  find(id: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/**
 * Creates storage for one oidc-provider: its own default warns on the console and is shared by all providers of a process.
 *
 * @returns the factory that oidc-provider calls with each model's name
 */
export function createMemoryAdapter(): (model: string) => Adapter {
  const records = new Map<string, Readonly<Record<string, unknown>>>();

  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    return {
      async upsert(id, payload) {
        records.set(keyOf(id), payload);
      },
      async find(id) {
        return records.get(keyOf(id));
      },
      async consume(id) {
        records.set(keyOf(id), { ...records.get(keyOf(id)), consumed: true });
      },
      async destroy(id) {
        records.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of records) if (payload.grantId === grantId) records.delete(key);
      },
    };
  };
}
