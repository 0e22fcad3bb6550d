export { type S3Server, startS3Server } from './startS3Server.ts';
