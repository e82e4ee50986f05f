import type { ImportJob } from './import-jobs.store.ts';
import type { PhoneNumber } from './numbers.store.ts';

export const presentNumber = (number: PhoneNumber) => ({
  phone_number_id: number.phoneNumberId,
  phone_number: number.phoneNumber,
  phone_line_id: number.lineId,
  created_at: number.createdAtMs,
});

export const presentImport = (job: ImportJob) => ({
  long_job_id: job.jobId,
  status: job.state,
  total: job.total,
  done: job.done,
  imported: job.imported,
  rejected: job.rejected.map(({ index, phoneNumber, reason }) => ({
    index,
    phone_number: phoneNumber,
    reason,
  })),
  created_at: job.createdAtMs,
  finished_at: job.finishedAtMs,
});
