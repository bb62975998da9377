CREATE TABLE files (
  id text primary key, session_id text not null, path text not null, content text not null,
  version integer not null default 0, created_at integer not null, updated_at integer not null);
CREATE TABLE goose_db_version (id integer primary key, version_id integer, is_applied integer);
CREATE TABLE messages (
  id text primary key, session_id text not null, role text not null, parts text not null default '[]', model text,
  created_at integer not null, updated_at integer not null, finished_at integer);
INSERT INTO "messages" VALUES('u1','0f6d3f4c-7c0e-4f0a-9d53-000000000003','user','[{"type": "text", "data": {"text": "say hello"}}, {"type": "finish", "data": {"reason": "stop", "time": 0}}]',NULL,1770000001000,1770000001000,NULL);
INSERT INTO "messages" VALUES('a1','0f6d3f4c-7c0e-4f0a-9d53-000000000003','assistant','[{"type": "text", "data": {"text": "Hello."}}, {"type": "finish", "data": {"reason": "end_turn", "time": 1770000003}}]','claude-sonnet-4',1770000002000,1770000002000,NULL);
CREATE TABLE sessions (
  id text primary key, parent_session_id text, title text not null, message_count integer not null default 0,
  prompt_tokens integer not null default 0, completion_tokens integer not null default 0, cost real not null default 0.0,
  updated_at integer not null, created_at integer not null);
INSERT INTO "sessions" VALUES('0f6d3f4c-7c0e-4f0a-9d53-000000000003',NULL,'First words',2,0,0,0.01,1770000060000,1770000000000);
CREATE INDEX idx_messages_session_id on messages (session_id);
