export { composeMail } from './mail.composer.ts';
export type { DkimKey, MailAddress, MailContent } from './mail.composer.ts';
export { SmtpBusyError, SmtpClient } from './smtp.client.ts';
export type { RejectedRecipient, SmtpAnswer, SmtpEnvelope, SmtpServer, SmtpStage } from './smtp.session.ts';
