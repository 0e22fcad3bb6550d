import { describe } from 'vitest';
import type { RequestStore } from '../../src/ports/requestStore.ts';
import { describeBatches } from './requestStore/describeBatches.ts';
import { describeClaims, describeOpenClaims, describeOutage } from './requestStore/describeClaims.ts';
import { describeCreation, describeOnce } from './requestStore/describeCreation.ts';
import { describeFeed, describeRestoredFeed } from './requestStore/describeFeed.ts';
import { describeLeases } from './requestStore/describeLeases.ts';
import { describeLists, describeWalks } from './requestStore/describeLists.ts';
import { describeReports, describeStats } from './requestStore/describeReports.ts';
import type { CreateStore } from './storeUnderTest.ts';
import { useStore } from './useStore.ts';

/**
 * The contract of every driver of the queue's port.
 *
 * @param name - of the driver
 * @param createStore - makes an empty store
 * @see ../../src/ports/requestStore.ts
 */
export function requestStoreContract(name: string, createStore: CreateStore<RequestStore>): void {
  describe(`${name} keeps the contract of RequestStore`, () => {
    const use = useStore(createStore);
    describeCreation(use);
    describeLists(createStore);
    describeWalks(use);
    describeClaims(use);
    describeLeases(use);
    describeReports(use);
    describeBatches(use);
    describeOnce(use);
    describeOpenClaims(use);
    describeFeed(use);
    describeRestoredFeed(createStore);
    describeStats(createStore);
    describeOutage(createStore);
  });
}
