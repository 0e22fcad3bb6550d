export { markAnnouncement, markPayout, readMark } from './chain/marks.ts';
