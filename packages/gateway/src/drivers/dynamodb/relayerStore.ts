import { paginateScan } from '@aws-sdk/client-dynamodb';
import type { RelayerRecord, RelayerStore } from '../../ports/relayerStore.ts';
import {
  askStore,
  type Item,
  number,
  readItem,
  readNumber,
  readNumbers,
  readText,
  readTexts,
  remove,
  type Table,
  text,
  type Update,
  update,
} from './items.ts';

/** The key is in lower case, so that letter case tells no relayers apart. */
const keyOf = (address: string) => ({ address: text(address.toLowerCase()) });

const relayerOfItem = (item: Item): RelayerRecord => ({
  address: readText(item, 'checksumAddress'),
  ...{ createdAt: readNumber(item, 'createdAt'), updatedAt: readNumber(item, 'updatedAt') },
  ...readTexts(item, 'label', 'suspendReason'),
  ...readNumbers(item, 'suspendedAt'),
});

const byAge = (a: RelayerRecord, b: RelayerRecord) => a.createdAt - b.createdAt || (a.address < b.address ? -1 : 1);

/** The whitelist in DynamoDB. Nothing of it is kept in memory: a relayer that is removed has lost its access when the call returns. */
export function createRelayerStore(table: Table): RelayerStore {
  /** Changes a relayer if the condition holds. @returns the relayer as it then stands; undefined: there is none */
  async function change(address: string, order: Omit<Update, 'key'>): Promise<RelayerRecord | undefined> {
    const { item } = await update(table, { key: keyOf(address), ...order });
    return item && relayerOfItem(item);
  }

  return {
    async put({ address, label, now }) {
      const names = { checksumAddress: text(address), label: label === undefined ? undefined : text(label) };
      const set = { ...names, updatedAt: number(now) };
      const compute = { createdAt: 'if_not_exists(#createdAt, :updatedAt)' };
      const { item = {} } = await update(table, { key: keyOf(address), set, compute });
      return relayerOfItem(item);
    },
    remove: async (address) => void (await remove(table, keyOf(address))),
    async find(address) {
      const item = await readItem(table, keyOf(address));
      return item && relayerOfItem(item);
    },
    suspend: ({ address, reason, now }) =>
      change(address, {
        set: { suspendReason: text(reason), updatedAt: number(now) },
        compute: { suspendedAt: 'if_not_exists(#suspendedAt, :updatedAt)' },
        condition: 'attribute_exists(address)',
      }),
    resume: ({ address, now }) =>
      change(address, {
        set: { updatedAt: number(now) },
        remove: ['suspendedAt', 'suspendReason'],
        condition: 'attribute_exists(suspendedAt)',
      }),
    list: () =>
      askStore(async () => {
        const relayers: RelayerRecord[] = [];
        for await (const page of paginateScan(table, { TableName: table.name, ConsistentRead: true })) {
          relayers.push(...(page.Items ?? []).map(relayerOfItem));
        }
        return relayers.sort(byAge);
      }),
  };
}
