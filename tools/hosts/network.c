// SPDX-License-Identifier: MIT
/*
 * The network of emulated hosts: each has an eth0, whose other end is a port of one bridge. They
 * are made through rtnetlink, without names that outlive the processes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hosts.h"

#define BRIDGE	"rack"
#define PREFIX	16

struct request {
	struct nlmsghdr header;
	union {
		struct ifinfomsg link;
		struct ifaddrmsg address;
	};
	char attributes[512];
};

static struct rtattr *end_of(struct request *request)
{
	return (struct rtattr *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));
}

static struct rtattr *add(struct request *request, unsigned short type, const void *data,
			  size_t bytes)
{
	struct rtattr *attribute = end_of(request);

	attribute->rta_type = type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(bytes);
	if (bytes)
		memcpy(RTA_DATA(attribute), data, bytes);
	request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_SPACE(bytes);
	return attribute;
}

static void add_number(struct request *request, unsigned short type, uint32_t number)
{
	add(request, type, &number, sizeof(number));
}

static void add_text(struct request *request, unsigned short type, const char *text)
{
	add(request, type, text, strlen(text) + 1);
}

/* Begins an attribute that has the attributes up to end() in it. */
static struct rtattr *begin(struct request *request, unsigned short type)
{
	return add(request, type, NULL, 0);
}

static void end(struct request *request, struct rtattr *outer)
{
	outer->rta_len = (unsigned short)((char *)end_of(request) - (char *)outer);
}

static struct request new_request(unsigned short type, unsigned short flags, size_t head)
{
	return (struct request) { .header = {
		.nlmsg_len = (uint32_t)NLMSG_LENGTH(head), .nlmsg_type = type,
		.nlmsg_flags = (unsigned short)(NLM_F_REQUEST | NLM_F_ACK | flags),
	} };
}

/* Sends a request. Return: 0, or the error as an errno */
static int ask(const struct request *request)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[1024];
	} answer = { 0 };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), error = 0;
	ssize_t got;

	if (fd < 0 || send(fd, request, request->header.nlmsg_len, 0) < 0)
		error = errno;
	while (!error) {
		got = recv(fd, &answer, sizeof(answer), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			error = errno;
		else if (answer.header.nlmsg_type == NLMSG_ERROR)
			error = -answer.error.error;
		break;
	}
	if (fd >= 0)
		close(fd);
	return error;
}

static void make(const struct request *request, const char *what, const char *module)
{
	int error = ask(request);

	if (error == EOPNOTSUPP)
		die("cannot make %s: this kernel has no %s; as root: modprobe %s", what, module,
		    module);
	if (error)
		die("cannot make %s: %s", what, strerror(error));
}

static void bring_up(const char *name)
{
	struct request request = new_request(RTM_NEWLINK, 0, sizeof(request.link));
	int error;

	request.link.ifi_index = (int)if_nametoindex(name);
	request.link.ifi_flags = IFF_UP;
	request.link.ifi_change = IFF_UP;
	error = request.link.ifi_index ? ask(&request) : ENODEV;
	if (error)
		die("cannot start the network's %s: %s", name, strerror(error));
}

static in_addr_t address(unsigned int host)
{
	/* The last byte is neither 0 nor 255, which are no addresses of hosts in small networks. */
	return htonl(0x0a480000 + host / 250 * 256 + host % 250 + 1);
}

void network_address(unsigned int host, char text[16])
{
	struct in_addr in = { address(host) };

	inet_ntop(AF_INET, &in, text, 16);
}

void network_make_switch(void)
{
	struct request request = new_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
					     sizeof(request.link));
	struct rtattr *info;

	add_text(&request, IFLA_IFNAME, BRIDGE);
	info = begin(&request, IFLA_LINKINFO);
	add_text(&request, IFLA_INFO_KIND, "bridge");
	end(&request, info);
	make(&request, "the hosts' network", "bridge");
	bring_up(BRIDGE);
}

void network_connect(unsigned int host, pid_t pid)
{
	struct request request = new_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
					     sizeof(request.link));
	struct rtattr *info, *data, *peer;
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "host%u", host);
	add_text(&request, IFLA_IFNAME, name);
	add_number(&request, IFLA_MASTER, if_nametoindex(BRIDGE));
	info = begin(&request, IFLA_LINKINFO);
	add_text(&request, IFLA_INFO_KIND, "veth");
	data = begin(&request, IFLA_INFO_DATA);
	peer = begin(&request, VETH_INFO_PEER);
	/* the other end: a link's head, then its attributes */
	request.header.nlmsg_len += sizeof(request.link);
	add_text(&request, IFLA_IFNAME, "eth0");
	add_number(&request, IFLA_NET_NS_PID, (uint32_t)pid);
	end(&request, peer);
	end(&request, data);
	end(&request, info);
	make(&request, "a host's link", "veth");
	bring_up(name);
}

void network_start_loopback(void)
{
	bring_up("lo");
}

void network_start_link(unsigned int host)
{
	struct request request = new_request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL,
					     sizeof(request.address));
	in_addr_t own = address(host), all = own | htonl(0xffff);

	request.address.ifa_family = AF_INET;
	request.address.ifa_prefixlen = PREFIX;
	request.address.ifa_index = if_nametoindex("eth0");
	add(&request, IFA_LOCAL, &own, sizeof(own));
	add(&request, IFA_ADDRESS, &own, sizeof(own));
	add(&request, IFA_BROADCAST, &all, sizeof(all));
	make(&request, "a host's address", "IPv4");
	bring_up("eth0");
}
