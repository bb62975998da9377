CREATE TABLE files (
  id text primary key, session_id text not null, path text not null, content text not null,
  version integer not null default 0, created_at integer not null, updated_at integer not null);
CREATE TABLE goose_db_version (id integer primary key, version_id integer, is_applied integer);
CREATE TABLE messages (
  id text primary key, session_id text not null, role text not null, parts text not null default '[]', model text,
  created_at integer not null, updated_at integer not null, finished_at integer, provider text,
  is_summary_message integer default 0 not null);
INSERT INTO "messages" VALUES('u1','0f6d3f4c-7c0e-4f0a-9d53-000000000005','user','[{"type": "text", "data": {"text": "still readable"}}, {"type": "finish", "data": {"reason": "stop", "time": 0}}]',NULL,1770000001,1770000001,NULL,NULL,0);
INSERT INTO "messages" VALUES('a1','0f6d3f4c-7c0e-4f0a-9d53-000000000005','assistant','[{"type": "text", "data": {"text": "Yes."}}, {"type": "hologram", "data": {}}, {"type": "hologram", "data": {"x": 1}}, {"type": "finish", "data": {"reason": "end_turn", "time": 1770000003}}]','claude-sonnet-4',1770000002,1770000002,NULL,'anthropic',0);
INSERT INTO "messages" VALUES('b1','0f6d3f4c-7c0e-4f0a-9d53-000000000005','assistant','[{"type":"text"',NULL,1770000003,1770000003,NULL,NULL,0);
INSERT INTO "messages" VALUES('b2','0f6d3f4c-7c0e-4f0a-9d53-000000000005','narrator','[]',NULL,1770000004,1770000004,NULL,NULL,0);
INSERT INTO "messages" VALUES('b3','0f6d3f4c-7c0e-4f0a-9d53-000000000005','assistant','[null,{"type":"text","data":"bare"},{"type":"tool_result","data":{"content":"whose?"}},{"type":["x"],"data":[]},{"type":"tool_call","data":{"id":7,"name":[],"input":"{"}}]',NULL,'soon',1770000005,NULL,NULL,0);
CREATE TABLE sessions (
  id text primary key, parent_session_id text, title text not null, message_count integer not null default 0,
  prompt_tokens integer not null default 0, completion_tokens integer not null default 0, cost real not null default 0.0,
  updated_at integer not null, created_at integer not null, summary_message_id text, todos text);
INSERT INTO "sessions" VALUES('0f6d3f4c-7c0e-4f0a-9d53-000000000005',NULL,'Trouble',5,0,0,0.0,1770000060,1770000000,NULL,NULL);
CREATE INDEX idx_messages_session_id on messages (session_id);
