/* md5.h - MD5 (libnettle), for the lists that packages come with; nothing is believed because of it */
#ifndef LIB_MD5_H
#define LIB_MD5_H

struct err;

/* Of the content of fd, from offset 0, position kept. */
int md5_fd(int fd, char hex[33], struct err *err);

#endif
