export { markAnnouncement, markPayout, readMark } from './chain/marks.ts';
export { createStandInHandler } from './standIn/createStandInHandler.ts';
export { openStandInStore, type StandInPayment, type StandInStore } from './standIn/openStandInStore.ts';
export { type StandIn, startStandIn } from './standIn/startStandIn.ts';
