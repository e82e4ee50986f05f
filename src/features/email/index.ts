export { createEmail, emailRoutes } from './email.ts';
export type { EmailOptions, EmailServices } from './email.ts';
export { createEmailSweeps } from './email.jobs.ts';
export type { EmailJobsOptions, EmailSweep } from './email.jobs.ts';
