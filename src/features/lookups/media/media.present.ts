import type { PlayableMedia, UploadAddresses } from './media.service.ts';

/** A media on the wire. `media_exists`: its bytes came. */
export const presentMedia = (media: PlayableMedia) => ({
  media_id: media.mediaId,
  name: media.name,
  type: media.type,
  status: media.state,
  media_exists: media.sizeBytes !== null,
  content_type: media.contentType,
  size_bytes: media.sizeBytes,
  duration_ms: media.durationMs,
  audio_url: media.audioUrl,
  created_at: media.createdAtMs,
  updated_at: media.updatedAtMs,
});

export const presentUpload = ({ mp3, wav }: UploadAddresses) => ({
  mp3: { url: mp3.url, content_type: mp3.contentType },
  wav: { url: wav.url, content_type: wav.contentType },
});
