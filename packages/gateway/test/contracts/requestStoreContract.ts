import { describe } from 'vitest';
import type { RequestStore } from '../../src/ports/requestStore.ts';
import { describeBatches } from './requestStore/describeBatches.ts';
import { describeClaims } from './requestStore/describeClaims.ts';
import { describeCreation } from './requestStore/describeCreation.ts';
import { describeFeed } from './requestStore/describeFeed.ts';
import { describeLeases } from './requestStore/describeLeases.ts';
import { describeLists } from './requestStore/describeLists.ts';
import { describeOnce } from './requestStore/describeOnce.ts';
import { describeOpenClaims } from './requestStore/describeOpenClaims.ts';
import { describeOutage } from './requestStore/describeOutage.ts';
import { describeReports } from './requestStore/describeReports.ts';
import { describeStats } from './requestStore/describeStats.ts';
import { describeWalks } from './requestStore/describeWalks.ts';
import type { CreateStore } from './storeUnderTest.ts';
import { useStore } from './useStore.ts';

/**
 * What every driver of the queue's port must do.
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
    describeStats(createStore);
    describeOutage(createStore);
  });
}
